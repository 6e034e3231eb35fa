#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "convlab/kernels/conv_step.h"
#include "convlab/verify/oracle.h"

namespace convlab {

/// Bounds on the error of a correct result:
///
///   |got - expected| <= slope * (per_scale * scale + absolute) + per_value * |expected|     for every element,
///   ||got - expected|| <= relative_l2 * max(||expected||, ||typical||)                      for all elements,
///
/// with typical = slope * scale / sqrt(terms), the expected size of sums whose terms have random signs. It keeps the
/// second condition fair if the few outputs of a small problem happen to cancel.
///
/// The first condition is a theorem, sharp enough to catch a wrong element. The second is statistical: over many
/// elements, it catches arithmetic that is less precise than its class claims.
struct ErrorModel {
  double per_scale = 0, absolute = 0;
  double slope = 1;
  double per_value = 0;
  double relative_l2 = 0;
  double terms = 1;
  bool shared_scale = false;  ///< errors come from anywhere in the image: all elements use the largest scale

  double tolerance(double expected, double scale) const {
    return slope * (per_scale * scale + absolute) + per_value * (expected < 0 ? -expected : expected);
  }
};

/// Returns the model for integer fills in a kernel with direct sums: exact, except for the activation and for an
/// average's division by a number that is not a power of two.
ErrorModel exact_model(const ConvStep& step);

/// Returns the model for real fills. With n terms per sum (bias included), by class of arithmetic:
///
///   fp32    per_scale = n u, u = 2^-24: a sum of n products in any order, fused or not, is off by at most
///           n u sum|x||w| (Jeannerod and Rump, "Improved error bounds for inner products in floating-point
///           arithmetic", SIAM J. Matrix Anal. Appl. 34, 2013; Higham, "Accuracy and Stability of Numerical
///           Algorithms", 2nd ed., section 3.1, has n u / (1 - n u))
///   others  a rounded operand is off by its own u, so a product by 2 u + u^2: u = 2^-10 for tf32 (truncated), 2^-11
///           for fp16, 2^-8 for bf16; bf16x2 loses 2^-16 of each operand and a product of 2^-16: less than 2^-14.
///           Tensor cores truncate sums instead of rounding, and truncate again when aligning products: n 2^-22 (Fasi
///           and others, 2021); in fp16 the accumulator may be fp16: n 2^-11.
///   fp16    absolute = 2^-25 (|x| + |w|) per term, for operands that are subnormal in fp16
///
/// A bf16 or fp16 output is rounded once more.
///
/// relative_l2 is 1e-6 for fp32, the definition of the class (see Math). For bf16 it is the error of one product, 2^-7;
/// for bf16x2 half the error of one product, 2^-15, since errors of many products partly cancel; for tf32 twice the
/// error of one product, 2^-8; for fp16 2^-7. For sums so long that correct fp32 sums are further off, it is
/// u sqrt(n / 6) (1 + 2 / sqrt(m)) for m outputs: 1e-6 up to about 1600 terms, 1.7e-6 at 4608. A sum of i terms of
/// random sign has the size sqrt(i) terms. Adding the next one rounds it with an error that is uniform within half a
/// unit in the last place, so its standard deviation is at most u / sqrt(3) of the sum. n independent errors amount to
/// u / sqrt(3) sqrt(1 + 2 + ... + n) = u sqrt(n / 6) times sqrt(n) terms. Higham and Mary model roundings as
/// independent random errors in "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 41,
/// 2019, and "Sharper probabilistic backward error analysis for basic linear algebra kernels with random data", ibid.
/// 42, 2020; Higham, "Accuracy and Stability of Numerical Algorithms", section 2.8, has the rule of thumb. Sequential
/// sums show about three quarters of it, 0.3 u sqrt(n), as not all significands are at their worst. The mean of few
/// squares scatters: the last factor allows for three of its standard deviations, 1 / sqrt(2 m).
///
/// Max pooling keeps the largest error; average pooling keeps the mean error and adds its own rounding. An activation
/// multiplies the error by its slope and rounds: tanh and sigmoid may be off by 16 u, 8 units in the last place of
/// numbers near 1.
ErrorModel rounding_model(const ConvStep& step, const KernelInfo& kernel);

/// An output element: its index, and its expected and actual value.
struct OutputElement {
  int64_t n = 0, k = 0, p = 0, q = 0;
  double expected = 0;
  float got = 0;
  double tolerance = 0;
};

struct Verdict {
  int64_t count = 0, wrong = 0;
  int64_t uninitialized = 0;   ///< wrong ones that are kUninitialized
  OutputElement first, worst;  ///< of the wrong ones; worst is NaN or has the largest error
  double relative_l2 = 0, relative_l2_limit = 0;

  /// A pass condition, so that NaN in the norm does not pass.
  bool passed() const { return wrong == 0 && relative_l2 <= relative_l2_limit; }
};

/// The bits of an uninitialized element, a NaN: outputs and scratch memory are filled with them before a kernel runs. A
/// value computed from such an element may keep them; no arithmetic on other NaNs produces them.
constexpr uint32_t kUninitialized = 0xffffffffu;

/// Compares all elements. An element is right if |got - expected| <= tolerance, or if both are the same infinity. NaN
/// is never right, even if NaN is expected.
Verdict compare(const Expected& expected, std::span<const float> got, const ErrorModel& model);

/// Like compare(), for a batch that repeats any of the expected images. Outputs are compared chunk by chunk. An output
/// depends on its own image alone, so a few reference outputs suffice to check all elements of a large batch.
class BatchComparison {
 public:
  /// `expected` must outlive this object.
  BatchComparison(const Expected& expected, const ErrorModel& model);
  ~BatchComparison();

  /// Adds the outputs of the batch's images first, first + 1, ...; their expected images are at[0], at[1], ...
  void add(int64_t first, std::span<const int64_t> at, std::span<const float> got, ThreadPool& threads);

  Verdict verdict() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Checks that NaN is exactly where NaN is expected (if `may_spread`: at least there, and otherwise only in the same
/// image), and that all other elements are right as in compare(). Verdict::first is the first element that fails.
Verdict compare_nan(const Expected& expected, std::span<const float> got, const ErrorModel& model, bool may_spread);

/// Where outputs that are kUninitialized come from.
enum class Origin : uint8_t {
  unknown,    ///< nothing wrote them, or a kernel wrote a NaN that it read from uninitialized memory
  unwritten,  ///< nothing wrote them
  written,    ///< a kernel wrote them
};

/// Returns "image 0, output channel 1, row 2, column 3: expected 5, got 7 (tolerance 0.1)".
std::string describe(const OutputElement& element, Origin origin = Origin::unknown);

/// Returns "3 of 24 outputs are wrong", for a verdict that did not pass.
std::string headline(const Verdict& verdict, Origin origin = Origin::unknown);

/// Returns headline() with the first wrong element.
std::string describe(const Verdict& verdict);

}  // namespace convlab
