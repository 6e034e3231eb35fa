// Fills the inputs of operators on numbers, within their domains.

#include <array>
#include <cmath>
#include <limits>

#include "convlab/model/einsum.h"
#include "convlab/model/shapes.h"
#include "convlab/verify/ops/arithmetic.h"
#include "convlab/verify/ops/filler.h"

namespace convlab::op_fill {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Halves the elements, so that rounding meets halves.
void halve(Filler& filler, size_t input) {
  for (float& element : filler.elements(input)) element /= 2;
}

/// Sets every fifth element to one of the values.
void sprinkle(Filler& filler, const std::array<float, 2>& values) {
  for (size_t i = 0; i < filler.elements(0).size(); i += 5) filler.set(0, i, values[i / 5 % 2]);
}

/// Returns the largest x with x^power * terms <= sum.
int64_t bound_of_power(int64_t sum, double terms, double power) {
  return static_cast<int64_t>(std::pow(static_cast<double>(sum) / terms, 1 / power) * (1 - 1e-9));
}

/// Returns how many of x's elements one element of y is made of.
double elements_per_output(const Filler& filler) {
  return static_cast<double>(element_count(filler.shape(0))) /
         static_cast<double>(std::max<int64_t>(element_count(filler.step().outputs[0].shape), 1));
}

void fill_average(Filler& filler, double terms) {
  filler.numbers(0, bound_of_power(filler.largest_accumulated(), terms, 1));
}

}  // namespace

void fill(const ActivationOp&, Filler& filler) { filler.numbers(0, 8, -8, 8); }

void fill(const UnaryOp& op, Filler& filler) {
  if (filler.integers()) {
    filler.integers(0, -16, 16);
    halve(filler, 0);
  } else {
    filler.reals(0, -4, 4);
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  switch (op.kind) {
    case UnaryKind::is_nan:
      return sprinkle(filler, {nan, kInfinity});
    case UnaryKind::is_inf:
      return sprinkle(filler, {kInfinity, -kInfinity});
    case UnaryKind::reciprocal:
      return filler.signed_reals(0, 0.25f, 4);
    case UnaryKind::sqrt:
    case UnaryKind::log:
      return filler.reals(0, 0.01f, 4);
    case UnaryKind::acosh:
      return filler.reals(0, 1.01f, 4);
    case UnaryKind::asin:
    case UnaryKind::acos:
    case UnaryKind::atanh:
      return filler.reals(0, -0.99f, 0.99f);
    case UnaryKind::tan:
      return filler.reals(0, -1.4f, 1.4f);
    default:
      return;
  }
}

/// Some reals are halfway between two numbers of the type.
void fill(const RoundOp& op, Filler& filler) {
  filler.numbers(0, kMostInteger, -100, 100);
  if (filler.integers()) return;
  const float half = 1 + (op.brain ? 0x1p-8f : 0x1p-11f);
  sprinkle(filler, {half, 3 * half});
}

void fill(const AddOp&, Filler& filler) {
  for (size_t i = 0; i < 2; ++i) filler.numbers(i, filler.largest_sum() / 2);
}

void fill(const MulOp&, Filler& filler) {
  for (size_t i = 0; i < 2; ++i) filler.numbers(i, bound_of_power(filler.largest_sum(), 1, 2));
}

void fill(const BinaryOp& op, Filler& filler) {
  switch (op.kind) {
    case BinaryKind::divide:
      filler.reals(0, -2, 2);
      return filler.signed_reals(1, 0.25f, 4);
    case BinaryKind::power:
      filler.reals(0, 0.1f, 4);
      return filler.reals(1, -3, 3);
    case BinaryKind::modulo:
    case BinaryKind::fmod:
      filler.numbers(0, 100, -8, 8);
      if (!filler.integers()) return filler.signed_reals(1, 0.25f, 4);
      filler.integers(1, 1, 9);
      for (size_t i = 0; i < filler.elements(1).size(); i += 2) filler.set(1, i, -filler.elements(1)[i]);
      return;
    case BinaryKind::logical_and:
    case BinaryKind::logical_or:
    case BinaryKind::logical_xor:
      for (size_t i = 0; i < 2; ++i) filler.integers(i, 0, 1);
      return;
    case BinaryKind::subtract:
      for (size_t i = 0; i < 2; ++i) filler.numbers(i, filler.largest_sum() / 2);
      return;
    case BinaryKind::prelu:
      for (size_t i = 0; i < 2; ++i) filler.numbers(i, bound_of_power(filler.largest_sum(), 1, 2));
      return;
    case BinaryKind::minimum:
    case BinaryKind::maximum:
      for (size_t i = 0; i < 2; ++i) filler.ties(i);
      return;
    default:  // comparisons, which need equal numbers
      for (size_t i = 0; i < 2; ++i) filler.integers(i, -kTies, kTies);
      return;
  }
}

void fill(const WhereOp&, Filler& filler) {
  filler.integers(0, 0, 1);
  for (size_t i = 1; i < 3; ++i) filler.numbers(i, 100);
}

void fill(const BatchNormOp&, Filler& filler) {
  for (size_t i = 0; i < 4; ++i) filler.reals(i, -2, 2);
  filler.reals(4, 0.25f, 4);
}

void fill(const NormalizeOp&, Filler& filler) {
  for (size_t i = 0; i < filler.count(); ++i) filler.reals(i, -2, 2);
}

void fill(const ReduceOp& op, Filler& filler) {
  const double terms = elements_per_output(filler);
  switch (op.kind) {
    case ReduceKind::sum:
    case ReduceKind::l1:
      return filler.numbers(0, bound_of_power(filler.largest_sum(), terms, 1));
    case ReduceKind::sum_square:
      return filler.numbers(0, bound_of_power(filler.largest_sum(), terms, 2));
    case ReduceKind::mean:
      return fill_average(filler, terms);
    case ReduceKind::prod: {
      if (!filler.integers()) return filler.signed_reals(0, 0.8f, 1.25f);
      filler.integers(0, 0, 1);
      for (float& element : filler.elements(0)) element = element * 2 - 1;
      // Only this many elements of the array, so that each product is at most 2^7.
      for (int i = 0; i < 7; ++i) {
        filler.set(0, static_cast<size_t>(filler.rng().integer(0, std::ssize(filler.elements(0)) - 1)), 2);
      }
      return;
    }
    case ReduceKind::log_sum:
      return filler.reals(0, 0.1f, 2);
    case ReduceKind::max:
    case ReduceKind::min:
      return filler.ties(0);
    default:
      return filler.reals(0, -2, 2);
  }
}

void fill(const CumSumOp& op, Filler& filler) {
  const Shape& x = filler.shape(0);
  const auto terms = static_cast<double>(x[static_cast<size_t>(normalized_axis(op.axis, std::ssize(x)))]);
  filler.numbers(0, bound_of_power(filler.largest_sum(), terms, 1));
}

void fill(const PoolOp& op, Filler& filler) {
  fill_average(filler, static_cast<double>(op.pool.kernel_h * op.pool.kernel_w));
}

void fill(const GlobalAveragePoolOp&, Filler& filler) { fill_average(filler, elements_per_output(filler)); }

void fill(const LpPoolOp& op, Filler& filler) {
  filler.numbers(0, bound_of_power(filler.largest_sum(), static_cast<double>(op.pool.kernel_h * op.pool.kernel_w), 1));
}

/// Positions reach beyond the image. For `nearest` they are at most 0.4 pixels from a pixel's center, so that rounding
/// selects the same one in any arithmetic.
void fill(const GridSampleOp& op, Filler& filler) {
  filler.numbers(0, 100);
  filler.reals(1, -1.3f, 1.3f);
  if (op.mode != SampleMode::nearest) return;
  for (size_t i = 0; i < filler.elements(1).size(); ++i) {
    const int64_t size = filler.shape(0)[i % 2 == 0 ? 3 : 2];
    const double pixel = static_cast<double>(filler.rng().integer(-1, size)) + filler.rng().uniform(-0.4f, 0.4f);
    const auto length = static_cast<double>(size);
    const double place = op.align_corners ? 2 * pixel / std::max(length - 1, 1.0) - 1 : (2 * pixel + 1) / length - 1;
    filler.set(1, i, static_cast<float>(place));
  }
}

void fill(const SqueezeExciteOp&, Filler& filler) {
  filler.reals(0, -2, 2);
  for (size_t i = 1; i < 5; ++i) {
    const float bound = i % 2 == 0 ? 0.5f : 3 / std::sqrt(static_cast<float>(filler.shape(i)[1]));
    filler.reals(i, -bound, bound);
  }
}

void fill(const EinsumOp&, Filler& filler) {
  const double terms = product_terms(filler.step());
  for (size_t i = 0; i < filler.count(); ++i) {
    filler.numbers(i, bound_of_power(filler.largest_sum(), terms, static_cast<double>(filler.count())), -1, 1);
  }
}

/// As fill_images() and fill_filters(): integers up to bounds, or sparse ones if the sum of even the smallest would be
/// too large; reals with sums of about 1.
void fill_product(const Step& step, Filler& filler) {
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

}  // namespace convlab::op_fill
