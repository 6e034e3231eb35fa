#pragma once

#include <cstdint>

/// Rounding to formats of 8 and 16 bits, once and in any mode, for all numbers that long double has: 64-bit integers
/// and double, too.
namespace convlab::simt {

enum class Rounding : uint8_t { nearest_even, down, up, towards_zero };

struct NarrowFormat {
  int mantissa_bits;      ///< without the hidden one
  int least_exponent;     ///< of normal numbers
  uint32_t largest;       ///< bits of the largest finite number
  uint32_t infinity;      ///< what is beyond it
  uint32_t not_a_number;  ///< of either sign
  uint32_t sign;
};

constexpr NarrowFormat kHalfFormat{10, -14, 0x7bff, 0x7c00, 0x7fff, 0x8000};
constexpr NarrowFormat kBrainFormat{7, -126, 0x7f7f, 0x7f80, 0x7fff, 0x8000};
constexpr NarrowFormat kE4m3Format{3, -6, 0x7e, 0x7f, 0x7f, 0x80};
constexpr NarrowFormat kE5m2Format{2, -14, 0x7b, 0x7c, 0x7e, 0x80};

/// Returns the bits. `saturate`: numbers beyond the largest one, and infinities, become the largest one.
[[gnu::const]] uint32_t narrow(long double value, NarrowFormat format, Rounding rounding, bool saturate) noexcept;

}  // namespace convlab::simt
