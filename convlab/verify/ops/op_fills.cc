// Fills a step's inputs: limits, formats, and the NaN that some output reads.

#include "convlab/verify/ops/op_fills.h"

#include <bit>
#include <limits>
#include <utility>

#include "convlab/base/overloaded.h"
#include "convlab/verify/ops/arithmetic.h"
#include "convlab/verify/ops/filler.h"
#include "convlab/verify/ops/op_oracle.h"
#include "convlab/verify/ops/references.h"

namespace convlab {
namespace op_fill {
namespace {

/// Returns the largest integer up to which an element type has all.
int64_t largest_integer(ElementType type) {
  switch (type) {
    case ElementType::f16:
      return 1 << 11;
    case ElementType::bf16:
      return 1 << 8;
    case ElementType::bf16x2:
      return 1 << 16;
    case ElementType::u8:
      return 255;
    default:
      return 1 << 24;
  }
}

/// Returns the limits of a class of arithmetic; see IntegerLimits.
int64_t largest_operand_of(Math math) {
  if (math == Math::fp32) return 2048;
  return math == Math::tf32 ? 1024 : 256;
}

int64_t largest_sum_of(Math math) {
  if (math == Math::fp32) return 1 << 24;
  return math == Math::fp16 ? 1 << 11 : 1 << 22;
}

}  // namespace

Filler::Filler(const Step& step, Fill fill, uint64_t seed, Math math)
    : step_(step), fill_(fill), rng_(seed * 2 + (fill == Fill::integers ? 0 : 1)) {
  const bool product = arithmetic_of(step) == Arithmetic::product;
  const Math arithmetic = product ? math : Math::fp32;
  largest_operand_ = largest_operand_of(arithmetic);
  largest_accumulated_ = largest_sum_of(arithmetic);
  for (const Operand& input : step.inputs) {
    tensors_.emplace_back(ElementType::f32, input.shape);
    largest_operand_ = std::min(largest_operand_, largest_integer(input.format.type));
  }
  largest_sum_ = std::min(largest_accumulated_, largest_integer(step.outputs[0].format.type));
}

void Filler::reals(size_t input, float low, float high) {
  for (float& element : elements(input)) element = rng_.uniform(low, high);
}

void Filler::signed_reals(size_t input, float low, float high) {
  for (float& element : elements(input)) element = rng_.uniform(low, high) * (rng_.integer(0, 1) == 0 ? 1.0f : -1.0f);
}

void Filler::integers(size_t input, int64_t low, int64_t high) {
  for (float& element : elements(input)) element = static_cast<float>(rng_.integer(low, high));
}

void Filler::numbers(size_t input, int64_t bound, float low, float high) {
  bound = std::clamp<int64_t>(bound, 1, std::min(kMostInteger, largest_operand()));
  integers() ? integers(input, -bound, bound) : reals(input, low, high);
}

void Filler::ties(size_t input) { numbers(input, kTies); }

}  // namespace op_fill

namespace {

using op_fill::Filler;

float represented(float value, ElementType type) {
  switch (type) {
    case ElementType::f16:
      return static_cast<float>(op_oracle::rounded_to_f16(value));
    case ElementType::bf16:
      return static_cast<float>(op_oracle::rounded_to_bf16(value));
    case ElementType::bf16x2: {
      const double high = op_oracle::rounded_to_bf16(value);
      return static_cast<float>(high + op_oracle::rounded_to_bf16(value - high));
    }
    default:
      return value;
  }
}

void fill_all(const Step& step, Filler& filler) {
  const auto all = [&] {
    for (size_t i = 0; i < filler.count(); ++i) filler.numbers(i, 100);
  };
  std::visit(
      Overloaded{
          [&](const OneOf<ConvOp, ConvTransposeOp, GemmOp, MatMulOp> auto&) { fill_product(step, filler); },
          [&](const OneOf<ArgReduceOp, TopKOp, MaxPoolIndicesOp, ArgMaxOp> auto&) { filler.ties(0); },
          [&](const OneOf<LpNormalizeOp, LrnOp, SoftmaxOp, ResizeOp, ConcatOp, FlattenOp, ReshapeOp, SqueezeOp,
                          UnsqueezeOp, TransposeOp, PadOp, SliceOp, ExpandOp, TileOp, DepthToSpaceOp, SpaceToDepthOp,
                          TriluOp> auto&) { all(); },
          [&](const OneOf<ByteMeanOp, ByteConcatOp, ScaleOp> auto&) {
            for (size_t i = 0; i < filler.count(); ++i) filler.integers(i, 0, 255);
          },
          [&](const OneOf<ActivationOp, UnaryOp, RoundOp, AddOp, MulOp, BinaryOp, WhereOp, BatchNormOp, NormalizeOp,
                          ReduceOp, CumSumOp, PoolOp, GlobalAveragePoolOp, LpPoolOp, GridSampleOp, SqueezeExciteOp,
                          EinsumOp, MaxUnpoolOp, GatherOp, GatherElementsOp, GatherNdOp, ScatterElementsOp, ScatterNdOp,
                          QuantizeOp, DequantizeOp, QLinearConvOp, ConvIntegerOp, QLinearMatMulOp, MatMulIntegerOp,
                          ByteAddOp, ByteConvOp> auto& op) { op_fill::fill(op, filler); },
      },
      static_cast<const AnyOp&>(step.op));
  constexpr int64_t kLargestByte = 255;
  const bool to_bytes = std::holds_alternative<ActivationOp>(step.op) && step.outputs[0].format.type == ElementType::u8;
  for (size_t i = 0; i < filler.count(); ++i) {
    const ElementType type = step.inputs[i].format.type;
    const bool bytes = to_bytes || (type == ElementType::u8 && !reads_integers(step.op));
    if (bytes) filler.integers(i, 0, kLargestByte);
    for (float& element : filler.elements(i)) element = represented(element, type);
  }
}

bool same(const Expected& a, const Expected& b) {
  return std::ranges::equal(
      a.value, b.value, [](double x, double y) { return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y); });
}

/// Makes an element NaN that changes some output: tries some at random.
void add_nan(const Step& step, uint64_t seed, std::vector<Tensor>& inputs) {
  const size_t input = std::holds_alternative<WhereOp>(step.op) ? 1 : 0;
  constexpr int kTries = 100;
  const std::span<float> elements = inputs[input].values<float>();
  const Expected before = expected_output(step, inputs);
  Rng rng(seed);
  for (int i = 0; i < kTries; ++i) {
    float& element = elements[static_cast<size_t>(rng.integer(0, std::ssize(elements) - 1))];
    const float old = std::exchange(element, std::numeric_limits<float>::quiet_NaN());
    if (!same(before, expected_output(step, inputs))) return;
    if (i + 1 < kTries) element = old;
  }
}

}  // namespace

bool has_fill(const Step& step, Fill fill) {
  if (fill == Fill::integers) {
    if (std::holds_alternative<ScaleOp>(step.op)) return false;  // its weights are fractions
    const auto* gemm = std::get_if<GemmOp>(&step.op);
    // Products with other factors are not exact.
    const auto simple = [](float factor) { return factor == 1 || factor == 2 || factor == 0.5f || factor == -1; };
    if (gemm != nullptr && !(simple(gemm->alpha) && simple(gemm->beta))) return false;
    return arithmetic_of(step) != Arithmetic::real;
  }
  if (fill != Fill::one_nan) return true;
  const auto integral = [](const Operand& operand) {
    return operand.format.type == ElementType::u8 || operand.format.type == ElementType::i8;
  };
  return !reads_integers(step.op) && !integral(step.inputs[0]) && !integral(step.outputs[0]);
}

std::vector<Tensor> fill_inputs(const Step& step, Fill fill, uint64_t seed, Math math) {
  Filler filler(step, fill, seed, math);
  fill_all(step, filler);
  std::vector<Tensor> inputs = filler.take();
  if (fill == Fill::one_nan && has_fill(step, fill)) add_nan(step, seed, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool weights = i == 1 && std::holds_alternative<ByteConvOp>(step.op);
    if (weights) inputs[i] = converted(inputs[i], ElementType::i8);
    if (step.inputs[i].format == kRawPixels) inputs[i] = converted(inputs[i], ElementType::u8);
  }
  return inputs;
}

}  // namespace convlab
