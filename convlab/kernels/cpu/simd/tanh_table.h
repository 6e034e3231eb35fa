#pragma once

#include <array>
#include <cstdint>

namespace convlab {

/// tanh for results that are rounded to bf16: x * (a[i] + b[i] * s), where s = 1 + x^2 and i is the low 5 bits of (the
/// bits of s) >> kShift: the index of s among 32 intervals of [1, 16), 8 for each power of 2. tanh(x) / x is almost
/// linear in s over such an interval: the relative error is below 7.5e-4, while rounding to bf16 may cost 3.9e-3.
/// (Beyond kLimit it is 1.1e-3, but the result is rounded to 1 anyway.)
struct TanhTable {
  static constexpr int kPieces = 32, kShift = 20;
  static constexpr float kLimit = 3.872f;  ///< a larger |x| is clamped to this; its s is still below 16

  alignas(64) std::array<float, kPieces> a, b;
};

/// Filled when the program starts.
extern const TanhTable kTanhTable;

}  // namespace convlab
