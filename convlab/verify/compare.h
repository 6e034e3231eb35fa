#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "convlab/kernels/kernel.h"
#include "convlab/verify/oracle.h"

namespace convlab {

/// How far a right result may be from the expected one:
///
///   |got - expected| <= slope * (per_scale * scale + absolute) + per_value * |expected|     for every element,
///   ||got - expected|| <= relative_l2 * max(||expected||, ||typical||)                      for the whole,
///
/// with typical = slope * scale / sqrt(terms): what the expected sums amount to if their terms have random signs. It
/// keeps the second condition fair where the few outputs of a small problem happen to cancel.
///
/// The first condition is a theorem, sharp enough to catch a wrong element; the second, over many elements, is the
/// statistical one, sharp enough to catch arithmetic that is less precise than the class claims.
struct ErrorModel {
  double per_scale = 0, absolute = 0;
  double slope = 1;
  double per_value = 0;
  double relative_l2 = 0;
  double terms = 1;
  bool shared_scale = false;  ///< errors come from anywhere in the image: every element has the largest scale of all

  double tolerance(double expected, double scale) const {
    return slope * (per_scale * scale + absolute) + per_value * (expected < 0 ? -expected : expected);
  }
};

/// The model of integer fills in a kernel whose sums are direct: exact, except for the activation and for an average's
/// division by a number that is no power of two.
ErrorModel exact_model(const ConvStep& step);

/// The model of real fills. With n terms a sum (its bias included) in a class of arithmetic:
///
///   fp32    per_scale = n u, u = 2^-24: a sum of n products in any order, fused or not, is off by at most
///           n u sum|x||w| (Jeannerod and Rump, "Improved error bounds for inner products in floating-point
///           arithmetic", SIAM J. Matrix Anal. Appl. 34, 2013; Higham, "Accuracy and Stability of Numerical
///           Algorithms", 2nd ed., section 3.1, has n u / (1 - n u))
///   others  a rounded operand is off by its own u, so a product by 2 u + u^2: u = 2^-10 for tf32 (bits cut off), 2^-11
///           for fp16, 2^-8 for bf16; bf16x2 loses 2^-16 of each operand and a product of 2^-16: less than 2^-14.
///           Sums in tensor cores cut off instead of rounding, and cut again where products are aligned: n 2^-22 (Fasi
///           and others, 2021); in fp16 the sum may be fp16: n 2^-11.
///   fp16    absolute = 2^-25 (|x| + |w|) a term, where an operand is subnormal in fp16
///
/// An output in bfloat16 or float16 is rounded once more.
///
/// relative_l2 is 1e-6 for fp32, which is what the class means (see Math); for bf16 what one product may be off, for
/// bf16x2 half of that, as errors of many products cancel in part; for others twice that. Where sums are so long that
/// honest ones in float32 are further off, it is u sqrt(n / 6) (1 + 2 / sqrt(m)) for m outputs: 1e-6 up to about 1600
/// terms, 1.7e-6 at 4608. A sum of i terms of random sign amounts to sqrt(i) of them, and adding the next one rounds it
/// by an error that is uniform within half a unit in the last place, so that its deviation is at most u / sqrt(3) of
/// the sum; n such errors, independent of each other, come to u / sqrt(3) sqrt(1 + 2 + ... + n) = u sqrt(n / 6) of
/// sqrt(n) terms. Higham and Mary model roundings as independent random errors in "A new approach to probabilistic
/// rounding error analysis", SIAM J. Sci. Comput. 41, 2019, and "Sharper probabilistic backward error analysis for
/// basic linear algebra kernels with random data", ibid. 42, 2020; Higham, "Accuracy and Stability of Numerical
/// Algorithms", section 2.8, has the rule of thumb. Sums of one term after the other show about three quarters of it,
/// 0.3 u sqrt(n), as not all significands are at their worst. The mean of few squares scatters: the last factor is
/// three of its deviations, 1 / sqrt(2 m).
///
/// A maximum over a window keeps the largest error, an average the mean one plus its own rounding; an activation
/// multiplies by its slope and rounds: tanh and sigmoid may be off by 16 u, 8 units in the last place of numbers
/// near 1.
ErrorModel rounding_model(const ConvStep& step, const KernelInfo& kernel);

/// An output element: where, and what is there.
struct OutputElement {
  int64_t n = 0, k = 0, p = 0, q = 0;
  double expected = 0;
  float got = 0;
  double tolerance = 0;
};

struct Verdict {
  int64_t count = 0, wrong = 0, never_written = 0;
  OutputElement first, worst;  ///< of the wrong ones; worst is NaN or the farthest off
  double relative_l2 = 0, relative_l2_limit = 0;

  /// Stated as a pass condition, so that NaN in the norm does not pass.
  bool passed() const { return wrong == 0 && relative_l2 <= relative_l2_limit; }
};

/// The bits of an element that nothing wrote, or that was computed from one, a NaN: outputs and scratch are filled with
/// them before a kernel runs. No arithmetic on other NaNs gives these bits.
constexpr uint32_t kUninitialized = 0xffffffffu;

/// Compares all elements. One is right if |got - expected| <= tolerance, or both are the same infinity; NaN is never
/// right, not even where NaN is expected.
Verdict compare(const Expected& expected, std::span<const float> got, const ErrorModel& model);

/// compare() for a batch of any number of images, each of which is one of the expected ones; its outputs are compared
/// piece by piece. An output depends on its own image alone, so a few outputs computed by definition tell all elements
/// of a large batch.
class BatchComparison {
 public:
  /// `expected` must outlive it.
  BatchComparison(const Expected& expected, const ErrorModel& model);
  ~BatchComparison();

  /// Outputs of the batch's images first, first + 1, ..., which are the expected ones numbered at[0], at[1], ...
  void add(int64_t first, std::span<const int64_t> at, std::span<const float> got, ThreadPool& threads);

  Verdict verdict() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// NaN exactly where NaN is expected (or, if `may_spread`, at least there and otherwise only in the same image), and
/// all other elements right in the sense above. Verdict::first is the first element where this fails.
Verdict compare_nan(const Expected& expected, std::span<const float> got, const ErrorModel& model, bool may_spread);

/// "image 0, output channel 1, row 2, column 3: expected 5, got 7 (tolerance 0.1)".
std::string describe(const OutputElement& element);

/// "3 of 24 outputs are wrong", of a verdict that did not pass.
std::string headline(const Verdict& verdict);

/// headline() with the first wrong element.
std::string describe(const Verdict& verdict);

}  // namespace convlab
