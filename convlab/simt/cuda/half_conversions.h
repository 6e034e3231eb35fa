#pragma once

#include <cstdint>
#include <type_traits>

#include "convlab/simt/cuda/conversions.h"
#include "convlab/simt/cuda/narrow_rounding.h"

/// Conversions between numbers of 16 bits and integers, which have the same form for fp16 and bf16.
namespace convlab::simt::cuda::simt_detail {

/// Integers of 8 and 16 bits: numbers beyond their range become the nearest one that they have, and NaN 0.
template <class I>
I to_small_integer(int whole) {
  constexpr int kLeast = static_cast<I>(-1) < 0 ? -(1 << (8 * sizeof(I) - 1)) : 0;
  constexpr int kMost = kLeast + (1 << 8 * sizeof(I)) - 1;
  return static_cast<I>(whole < kLeast ? kLeast : whole > kMost ? kMost : whole);
}

/// Returns the bits nearest to the number. `of_float` does the same, faster, for numbers that float has.
template <class T>
uint16_t nearest_bits(T value, NarrowFormat format, uint16_t (*of_float)(float) noexcept) {
  const bool is_float = std::is_integral_v<T> ? value >= T(std::is_signed_v<T> ? -(1 << 16) : 0) && value <= T(1 << 16)
                                              : static_cast<T>(static_cast<float>(value)) == value;
  if (sizeof(T) <= 2 || is_float) return of_float(static_cast<float>(value));
  return static_cast<uint16_t>(narrow(value, format, Rounding::nearest_even, false));
}

}  // namespace convlab::simt::cuda::simt_detail

// Defines __half2int_rn(), __int2half_rn() and the like for HALF, whose name in them is `half`.
#define CONVLAB_SIMT_HALF_CONVERSION(HALF, half, format, I, integer, suffix, mode)                           \
  inline I __##half##2##integer##suffix(HALF x) { return __float2##integer##suffix(static_cast<float>(x)); } \
  CONVLAB_SIMT_TO_HALF(HALF, half, format, I, integer, suffix, mode)
#define CONVLAB_SIMT_SMALL_CONVERSION(HALF, half, format, I, integer, suffix, mode)      \
  inline I __##half##2##integer##suffix(HALF x) {                                        \
    return simt_detail::to_small_integer<I>(__float2int##suffix(static_cast<float>(x))); \
  }                                                                                      \
  CONVLAB_SIMT_TO_HALF(HALF, half, format, I, integer, suffix, mode)
#define CONVLAB_SIMT_TO_HALF(HALF, half, format, I, integer, suffix, mode)                  \
  inline HALF __##integer##2##half##suffix(I x) {                                           \
    return __ushort_as_##half(static_cast<unsigned short>(narrow(x, format, mode, false))); \
  }
#define CONVLAB_SIMT_IN_MODES(macro, HALF, half, format, I, integer) \
  macro(HALF, half, format, I, integer, _rn, Rounding::nearest_even) \
      macro(HALF, half, format, I, integer, _rd, Rounding::down)     \
          macro(HALF, half, format, I, integer, _ru, Rounding::up)   \
              macro(HALF, half, format, I, integer, _rz, Rounding::towards_zero)
#define CONVLAB_SIMT_HALF_CONVERSIONS(HALF, half, format)                                          \
  CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_SMALL_CONVERSION, HALF, half, format, short, short)           \
  CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_SMALL_CONVERSION, HALF, half, format, unsigned short, ushort) \
  CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_HALF_CONVERSION, HALF, half, format, int, int)                \
  CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_HALF_CONVERSION, HALF, half, format, unsigned, uint)          \
  CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_HALF_CONVERSION, HALF, half, format, long long, ll)           \
  CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_HALF_CONVERSION, HALF, half, format, unsigned long long, ull) \
  inline signed char __##half##2char_rz(HALF x) {                                                  \
    return simt_detail::to_small_integer<signed char>(__float2int_rz(static_cast<float>(x)));      \
  }                                                                                                \
  inline unsigned char __##half##2uchar_rz(HALF x) {                                               \
    return simt_detail::to_small_integer<unsigned char>(__float2int_rz(static_cast<float>(x)));    \
  }
