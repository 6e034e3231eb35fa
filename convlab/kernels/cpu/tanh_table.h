#pragma once

#include <array>
#include <cstdint>

namespace convlab {

/// tanh for results that are rounded to bfloat16: x * (a[i] + b[i] * s), where s = 1 + x^2 and i is the low 5 bits of s
/// >> kShift: the place of s among 32 pieces of [1, 16), 8 for each power of 2. tanh(x) / x is almost straight over
/// such a piece: the error is below 7.5e-4 of the result, while rounding to bfloat16 may cost 3.9e-3 of it. (Beyond
/// kLimit it is 1.1e-3, but that is rounded to 1 all the same.)
struct TanhTable {
  static constexpr int kPieces = 32, kShift = 20;
  static constexpr float kLimit = 3.872f;  ///< a larger |x| is taken for this, whose s is still below 16

  alignas(64) std::array<float, kPieces> a, b;
};

/// Filled when the program starts.
extern const TanhTable kTanhTable;

}  // namespace convlab
