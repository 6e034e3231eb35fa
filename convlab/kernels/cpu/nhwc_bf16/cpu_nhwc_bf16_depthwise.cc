// cpu.nhwc_bf16_depthwise: depthwise convolution of bf16 nhwc images.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_depthwise.h"
#include "convlab/kernels/cpu/nhwc_bf16/halves.h"
#include "convlab/kernels/cpu/simd/pieces.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nhwc_bf16_depthwise {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nhwc_bf16_depthwise",
    .device = DeviceKind::cpu,
    .math = Math::bf16,
    .rung = 5,
    .idea = "depthwise convolution on bf16 nhwc: half the bytes of fp32, with fp32 products and sums",
    .after = "cpu.nchw8c_depthwise",
    .threads = "A work item is a band of output rows of one image.",
    .cost =
        "R * S fused multiply-adds for a vector of channels. Up to 8 pixels of a row are summed at a time while a "
        "filter row stays in registers.",
    .refuses = "Convolutions other than depthwise with depth multiplier 1, and layouts other than bf16 nhwc.",
    .limit = "Multiply-adds and conversions of the input.",
};

class Launch {
 public:
  Launch(const ConvArgs& args, int threads)
      : args_(args), problem_(args.step.problem), clamp_(clamp_of(args.step.epilogue.activation)) {
    const int64_t wanted = threads == 1 ? 1 : ceil_div(4 * threads, problem_.n);
    rows_ = ceil_div(problem_.p(), std::min(wanted, problem_.p()));
    bands_ = ceil_div(problem_.p(), rows_);
  }

  int64_t pieces() const { return problem_.n * bands_; }

  void compute(int64_t piece, int) const {
    const ConvStep& step = args_.step;
    const int64_t image = piece / bands_, first = piece % bands_ * rows_;
    const Shape shape = problem_.output_shape();
    const int64_t pixel = (image * problem_.p() + first) * problem_.q();
    const auto* prepared = static_cast<const float*>(args_.prepared);
    DepthwiseBand<uint16_t> band{.problem = problem_, .channels = problem_.c};
    band.x_step = pixel_step(step.input_step, problem_.input_shape());
    band.x = static_cast<const uint16_t*>(args_.x) + image * problem_.h * problem_.w * band.x_step;
    band.w = prepared + problem_.c;
    band.w_step = problem_.c;
    band.bias = step.epilogue.bias ? args_.bias : prepared;
    band.added_step = pixel_step(step.added_step, shape);
    if (step.adds) band.added = reinterpret_cast<const uint16_t*>(args_.added) + pixel * band.added_step;
    band.clamp = clamp_.value_or(Clamp{});
    if (!clamp_) band.activation = &step.epilogue.activation;
    band.first = first;
    band.count = std::min(rows_, problem_.p() - first);
    band.y_step = pixel_step(step.output_step, shape);
    band.y = reinterpret_cast<uint16_t*>(args_.y) + pixel * band.y_step;
    compute_band(band);
  }

 private:
  const ConvArgs& args_;
  const ConvProblem& problem_;
  std::optional<Clamp> clamp_;
  int64_t rows_ = 0, bands_ = 0;
};

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  const ConvProblem& problem = step.problem;
  if (problem.groups != problem.c || problem.k != problem.c) {
    return "only depthwise convolution with depth multiplier 1 is supported";
  }
  if (step.input_format != kNhwcBf16 || step.output_format != kNhwcBf16) {
    return "input and output must be nhwc bfloat16";
  }
  if (problem.c % kChannelLanes != 0) return "channels must be a multiple of 8";
  if (step.epilogue.pool) return "fused pooling is not supported";
  return std::nullopt;
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(checked_mul(step.problem.filter_count() + step.problem.c, sizeof(float)));
}

/// Packs zeros, the bias of steps without one, then the filters: [filter row][filter column][channel].
void prepare(const ConvArgs& args, Stream&) {
  const ConvProblem& problem = args.step.problem;
  const int64_t taps = problem.r * problem.s;
  float* to = std::fill_n(static_cast<float*>(args.prepared), problem.c, 0.0f);
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t c = 0; c < problem.c; ++c) *to++ = args.w[c * taps + tap];
  }
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<prepared_bytes>,
    .prepare = of_conv<prepare>,
    .launch = of_conv<launch_pieces<Launch, ConvArgs>>,
    .format = kNhwcBf16,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab::cpu_nhwc_bf16_depthwise
