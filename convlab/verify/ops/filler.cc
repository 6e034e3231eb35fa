// Fills inputs within the limits of the element types, and as several operators need them.

#include "convlab/verify/ops/filler.h"

#include <cmath>
#include <numeric>

#include "convlab/verify/ops/op_check.h"

namespace convlab::op_check {
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
  if (math <= Math::fp32) return 2048;
  return math == Math::tf32 ? 1024 : 256;
}

int64_t largest_sum_of(Math math) {
  if (math <= Math::fp32) return 1 << 24;
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

std::vector<int64_t> shuffled(int64_t count, Rng& rng) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<size_t>(rng.integer(0, static_cast<int64_t>(i) - 1))]);
  }
  return order;
}

int64_t bound_of_power(int64_t sum, double terms, double power) {
  return static_cast<int64_t>(std::pow(static_cast<double>(sum) / terms, 1 / power) * (1 - 1e-9));
}

double elements_per_output(const Filler& filler) {
  return static_cast<double>(element_count(filler.shape(0))) /
         static_cast<double>(std::max<int64_t>(element_count(filler.step().outputs[0].shape), 1));
}

void fill_product(Filler& filler) {
  const Step& step = filler.step();
  const double terms = product_terms(step);
  const bool scaled = std::holds_alternative<GemmOp>(step.op);  // by up to 2, or by 1/2, which takes another bit
  const int64_t sum = std::max<int64_t>(filler.largest_sum() / (scaled ? 4 : 1), 1),
                bias = std::min<int64_t>(sum / 4, 100);
  const auto each = static_cast<double>(sum - bias) / terms;
  const auto x = std::clamp<int64_t>(static_cast<int64_t>(std::sqrt(each)), 1, filler.largest_operand() / 2);
  const auto w =
      std::clamp<int64_t>(static_cast<int64_t>(each / static_cast<double>(x)), 1, filler.largest_operand() / 2);
  filler.numbers(0, x, -1, 1);
  const float bound = std::min(1.0f, 3 / std::sqrt(static_cast<float>(terms)));
  filler.numbers(1, w, -bound, bound);
  if (filler.integers() && each < 1) {
    // Nonzero elements are `period` apart along each dimension that is summed, and shifted in the others.
    const auto period = static_cast<int64_t>(std::ceil(1 / each));
    const Shape& shape = filler.shape(1);
    for (int64_t i = 0; i < element_count(shape); ++i) {
      int64_t rest = i, place = 0;
      for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) place += rest % shape[axis];
      if (place % period != 0) filler.set(1, static_cast<size_t>(i), 0);
    }
  }
  if (filler.count() > 2) filler.numbers(2, bias, -0.5f, 0.5f);
}

}  // namespace convlab::op_check
