// cpu.nhwc_int8_depthwise: quantized depthwise convolution, one output channel per input channel, 8-bit input to 8-bit
// output: vectors of a pixel's channels with exact sums, of pairs of 8-bit products if these fit 16 bits, otherwise of
// 16-bit products. cpu.nhwc_int8_depthwise_dots uses the processor's instruction for four 8-bit products.
// Threads: a work item is a band of output rows of an image.
// Not supported: other convolutions, fused additions, and layouts other than nhwc4.
// Limited by instructions that interleave rows and quantize sums.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_depthwise.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_op.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_pairs.h"
#include "convlab/kernels/cpu/simd/pieces.h"
#include "convlab/kernels/kernel.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"

namespace convlab::cpu_nhwc_int8_depthwise {
namespace {

ConvProblem problem_of(const Step& step) {
  return conv_problem(std::get<ByteConvOp>(step.op).conv, step.inputs[0].shape, step.inputs[1].shape);
}

int64_t row_bytes(const ConvProblem& problem) { return problem.w * pixel_bytes(problem.c); }

/// The prepared data that a launch reads.
struct Prepared {
  uint8_t* weights = nullptr;
  int32_t* start = nullptr;
  float* factors = nullptr;
  ByteUnit* unit = nullptr;  ///< that the weights are stored for
  uint8_t* zeros = nullptr;
  int64_t bytes = 0;

  /// Has room for weights of any unit of the kernel. If `memory` is null, computes only the size.
  Prepared(const ConvProblem& problem, ByteUnit of_kernel, void* memory) {
    const int64_t filters = byte_depthwise_weights(problem, of_kernel);
    const int64_t places = round_up(pixel_bytes(problem.c), byte_depthwise_block());
    bytes = filters + 8 * places + static_cast<int64_t>(sizeof(ByteUnit)) + row_bytes(problem);
    if (memory == nullptr) return;
    weights = static_cast<uint8_t*>(memory);
    start = reinterpret_cast<int32_t*>(weights + filters);
    factors = reinterpret_cast<float*>(start + places);
    unit = reinterpret_cast<ByteUnit*>(factors + places);
    zeros = reinterpret_cast<uint8_t*>(unit + 1);
  }
};

/// Returns whether the sums of two rows' products fit 16 bits: see byte_pairs.h.
bool pairs_fit(const ConvProblem& problem, const int8_t* w) {
  for (int64_t c = 0; c < problem.c; ++c, w += problem.r * problem.s) {
    for (int64_t i = 0; i < (problem.r - 1) * problem.s; ++i) {
      const int a = w[i], b = w[i + problem.s];
      if (i / problem.s % 2 == 0 && (a < 0) == (b < 0) && std::abs(a + b) > kMostOfPair) return false;
    }
  }
  return true;
}

template <ByteUnit kUnit>
class Launch {
 public:
  Launch(const Args& args, int threads) : args_(args), problem_(problem_of(args.step)) {
    const int64_t bands = std::min(ceil_div(4 * threads, problem_.n), problem_.p());
    rows_ = ceil_div(problem_.p(), bands);
    bands_ = ceil_div(problem_.p(), rows_);
  }

  int64_t pieces() const { return problem_.n * bands_; }

  void compute(int64_t piece, int) const {
    const auto& op = std::get<ByteConvOp>(args_.step.op);
    const Prepared prepared(problem_, kUnit, args_.prepared);
    const int64_t image = piece / bands_, first = piece % bands_ * rows_;
    const int64_t pixel = pixel_bytes(problem_.c);
    ByteDepthwiseRow row{.unit = *prepared.unit,
                         .problem = problem_,
                         .x = args_.input<uint8_t>(0) + image * problem_.h * problem_.w * pixel,
                         .zeros = prepared.zeros,
                         .w = prepared.weights,
                         .start = prepared.start,
                         .factors = prepared.factors,
                         .rule = rule_of(op)};
    for (row.row = first; row.row < std::min(first + rows_, problem_.p()); ++row.row) {
      row.y = args_.output<uint8_t>() + (image * problem_.p() + row.row) * problem_.q() * pixel;
      compute_row(row);
    }
  }

 private:
  const Args& args_;
  ConvProblem problem_;
  int64_t rows_ = 0, bands_ = 0;
};

template <ByteUnit kUnit>
void prepare(const Args& args, Stream&) {
  const ConvProblem problem = problem_of(args.step);
  const auto& op = std::get<ByteConvOp>(args.step.op);
  const Prepared prepared(problem, kUnit, args.prepared);
  std::memset(args.prepared, 0, static_cast<size_t>(prepared.bytes));
  std::memset(prepared.zeros, op.x_zero, static_cast<size_t>(row_bytes(problem)));
  const int8_t* w = byte_weights(args);
  const ByteUnit unit = kUnit == ByteUnit::words && pairs_fit(problem, w) ? ByteUnit::pairs : kUnit;
  *prepared.unit = unit;
  for (int64_t c = 0; c < problem.c; ++c) {
    int64_t sum = 0;
    for (int64_t r = 0; r < problem.r; ++r) {
      for (int64_t s = 0; s < problem.s; ++s, ++w) {
        uint8_t* const to = prepared.weights + byte_depthwise_weight(problem, unit, c, r, s);
        if (unit == ByteUnit::words) {
          *reinterpret_cast<int16_t*>(to) = *w;
        } else {
          *reinterpret_cast<int8_t*>(to) = *w;
        }
        sum += *w;
      }
    }
    const int64_t place = byte_depthwise_place(c);
    prepared.start[place] = static_cast<int32_t>(static_cast<int64_t>(args.input(3)[c]) - op.x_zero * sum);
    prepared.factors[place] = args.input(2)[c];
  }
}

template <ByteUnit kUnit>
Refusal refuses(const Step& step, const DeviceCaps&) {
  const auto* op = std::get_if<ByteConvOp>(&step.op);
  if (op == nullptr || op->adds) return "only QLinearConv on bytes without a fused addition is supported";
  if (step.inputs[0].format != kNhwc4U8 || step.outputs[0].format != kNhwc4U8) {
    return "input and output must be nhwc4 uint8";
  }
  const ConvProblem problem = problem_of(step);
  if (problem.groups != problem.c || problem.k != problem.c) {
    return "only depthwise convolution with depth multiplier 1 is supported";
  }
  return refuse_without(kUnit);
}

template <ByteUnit kUnit>
size_t prepared_bytes(const Step& step, const DeviceCaps&) {
  return static_cast<size_t>(Prepared(problem_of(step), kUnit, nullptr).bytes);
}

template <ByteUnit kUnit>
Kernel kernel(std::string_view name, std::string_view idea, std::string_view after = "") {
  return {
      .info = {.name = name,
               .device = DeviceKind::cpu,
               .family = Family::quantized,
               .math = Math::int8,
               .idea = idea,
               .after = after},
      .refuses = refuses<kUnit>,
      .prepared_bytes = prepared_bytes<kUnit>,
      .prepare = prepare<kUnit>,
      .launch = launch_pieces<Launch<kUnit>, Args>,
      .format = kNhwc4U8,
      .packs_weights = true,
  };
}

const RegisterKernel words{kernel<ByteUnit::words>(
    "cpu.nhwc_int8_depthwise",
    "depthwise convolution of bytes: vectors of channels; pairs of products in 16 bits where they fit")};
const RegisterKernel dots{kernel<ByteUnit::dots>(
    "cpu.nhwc_int8_depthwise_dots", "the same with the instruction that adds four 8-bit products to an int32",
    "cpu.nhwc_int8_depthwise")};

}  // namespace
}  // namespace convlab::cpu_nhwc_int8_depthwise
