// Fills a step's inputs: formats, and the NaN that some output reads.

#include "convlab/verify/ops/op_fills.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "convlab/verify/ops/op_check.h"
#include "convlab/verify/ops/op_oracle.h"

namespace convlab {
namespace {

using op_check::Filler;

float represented(float value, ElementType type) {
  switch (type) {
    case ElementType::f16:
      return static_cast<float>(op_check::rounded_to_f16(value));
    case ElementType::bf16:
      return static_cast<float>(op_check::rounded_to_bf16(value));
    case ElementType::bf16x2: {
      const double high = op_check::rounded_to_bf16(value);
      return static_cast<float>(high + op_check::rounded_to_bf16(value - high));
    }
    default:
      return value;
  }
}

void fill_all(const Step& step, Filler& filler) {
  op_check::op_checks()[step.op].fill(step.op, filler);
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
