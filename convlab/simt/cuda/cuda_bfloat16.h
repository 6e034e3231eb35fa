#pragma once

#include "convlab/simt/cuda/cuda_half.h"

/// The types and functions of cuda_bf16.h: bfloat16 in software, rounded as cuda_half.h says. A program has them if it
/// includes cuda_bf16.h.
namespace convlab::simt::cuda {

uint16_t float_to_brain(float value) noexcept;

struct alignas(2) __nv_bfloat16_raw {
  unsigned short x;
};

struct __nv_bfloat16 {
  uint16_t bits;

  __nv_bfloat16() = default;
  constexpr __nv_bfloat16(__nv_bfloat16_raw raw) : bits(raw.x) {}
  __nv_bfloat16(float value) : bits(float_to_brain(value)) {}
  __nv_bfloat16(double value) : bits(simt_detail::nearest_bits(value, kBrainFormat, float_to_brain)) {}
  explicit __nv_bfloat16(__half value) : bits(float_to_brain(value)) {}
  /// Integers, rounded once.
  template <class I>
  requires std::is_integral_v<I> __nv_bfloat16(I value)
      : bits(simt_detail::nearest_bits(value, kBrainFormat, float_to_brain)) {}
  constexpr operator float() const { return __uint_as_float(static_cast<unsigned>(bits) << 16); }
  operator __nv_bfloat16_raw() const { return {bits}; }
};
using nv_bfloat16 = __nv_bfloat16;

struct alignas(4) __nv_bfloat162_raw {
  unsigned short x, y;
};

struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;

  __nv_bfloat162() = default;
  constexpr __nv_bfloat162(__nv_bfloat16 x_, __nv_bfloat16 y_) : x(x_), y(y_) {}
  constexpr __nv_bfloat162(__nv_bfloat162_raw raw) : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  operator __nv_bfloat162_raw() const { return {x.bits, y.bits}; }
};
using nv_bfloat162 = __nv_bfloat162;

constexpr __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16_raw{bits}; }
constexpr __nv_bfloat16 __short_as_bfloat16(short bits) { return __nv_bfloat16_raw{static_cast<unsigned short>(bits)}; }
constexpr unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.bits; }
constexpr short __bfloat16_as_short(__nv_bfloat16 value) { return static_cast<short>(value.bits); }

inline __nv_bfloat16 __float2bfloat16(float value) { return value; }
inline __nv_bfloat16 __float2bfloat16_rn(float value) { return value; }
/// Round down, up, and towards zero.
__nv_bfloat16 __float2bfloat16_rd(float value) noexcept;
__nv_bfloat16 __float2bfloat16_ru(float value) noexcept;
__nv_bfloat16 __float2bfloat16_rz(float value) noexcept;
inline __nv_bfloat16 __double2bfloat16(double value) { return value; }
inline float __bfloat162float(__nv_bfloat16 value) { return value; }
CONVLAB_SIMT_HALF_CONVERSIONS(__nv_bfloat16, bfloat16, kBrainFormat)

constexpr __nv_bfloat16 __hneg(__nv_bfloat16 a) { return __ushort_as_bfloat16(a.bits ^ 0x8000u); }
constexpr __nv_bfloat16 __habs(__nv_bfloat16 a) { return __ushort_as_bfloat16(a.bits & 0x7fffu); }
constexpr __nv_bfloat16 simt_nan(__nv_bfloat16) { return __ushort_as_bfloat16(0x7fff); }

#define CONVLAB_HALF __nv_bfloat16
#define CONVLAB_HALF2 __nv_bfloat162
#include "convlab/simt/cuda/half_functions.h"
#undef CONVLAB_HALF
#undef CONVLAB_HALF2

inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 value) { return {value, value}; }
__nv_bfloat162 __floats2bfloat162_rn(float x, float y) noexcept;
inline __nv_bfloat162 __float2bfloat162_rn(float value) { return __floats2bfloat162_rn(value, value); }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x, v.y}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) { return {v.x, v.x}; }
inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) { return {v.y, v.y}; }
inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x, b.x}; }
inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.y, b.y}; }

}  // namespace convlab::simt::cuda
