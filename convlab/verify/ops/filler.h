#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "convlab/base/rng.h"
#include "convlab/kernels/kernel.h"
#include "convlab/kernels/step.h"
#include "convlab/tensor/tensor.h"
#include "convlab/verify/fills.h"

namespace convlab::op_check {

/// Fills the inputs of one step.
class Filler {
 public:
  Filler(const Step& step, Fill fill, uint64_t seed, Math math);

  const Step& step() const { return step_; }
  size_t count() const { return tensors_.size(); }
  const Shape& shape(size_t input) const { return step_.inputs[input].shape; }
  std::span<float> elements(size_t input) { return tensors_[input].values<float>(); }
  bool integers() const { return fill_ == Fill::integers; }
  Rng& rng() { return rng_; }

  /// The largest integer that the operands and the output hold without gaps.
  int64_t largest_operand() const { return largest_operand_; }
  /// The largest sum that stays exact, and may be the output.
  int64_t largest_sum() const { return largest_sum_; }
  /// The same for an average, which divides before it rounds to the output's type.
  int64_t largest_accumulated() const { return largest_accumulated_; }

  void reals(size_t input, float low, float high);
  /// Reals of either sign with magnitudes between these.
  void signed_reals(size_t input, float low, float high);
  /// Integers, bounded by the largest that the operand's type holds.
  void integers(size_t input, int64_t low, int64_t high);
  /// Integers up to `bound` with that fill, otherwise reals from `low` to `high`.
  void numbers(size_t input, int64_t bound, float low = -2, float high = 2);
  /// Integers up to kTies with that fill, so that many are equal, otherwise reals.
  void ties(size_t input);
  /// Sets one element to a value.
  void set(size_t input, size_t at, float value) { elements(input)[at] = value; }

  std::vector<Tensor> take() { return std::move(tensors_); }

 private:
  const Step& step_;
  Fill fill_;
  Rng rng_;
  std::vector<Tensor> tensors_;
  int64_t largest_operand_ = 0, largest_sum_ = 0, largest_accumulated_ = 0;
};

inline constexpr int64_t kMostInteger = 1000, kTies = 3;

/// Returns the largest x with x^power * terms <= sum.
int64_t bound_of_power(int64_t sum, double terms, double power);

/// Returns how many of x's elements one element of y is made of.
double elements_per_output(const Filler& filler);

/// Returns 0, 1, ... count - 1 in a random order.
std::vector<int64_t> shuffled(int64_t count, Rng& rng);

/// As fill_images() and fill_filters(): integers up to bounds, or sparse ones if the sum of even the smallest would be
/// too large; reals with sums of about 1.
void fill_product(Filler& filler);

// OpCheck::fill of several operators: numbers in all inputs, many equal numbers in the first, integers from 0 to 255 in
// all, the factors of a product.

inline constexpr auto kFillNumbers = [](const auto&, Filler& filler) {
  for (size_t i = 0; i < filler.count(); ++i) filler.numbers(i, 100);
};
inline constexpr auto kFillTies = [](const auto&, Filler& filler) { filler.ties(0); };
inline constexpr auto kFillBytes = [](const auto&, Filler& filler) {
  for (size_t i = 0; i < filler.count(); ++i) filler.integers(i, 0, 255);
};
inline constexpr auto kFillProduct = [](const auto&, Filler& filler) { fill_product(filler); };

}  // namespace convlab::op_check
