#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "convlab/simt/cuda/half_conversions.h"
#include "convlab/simt/vector_types.h"

/// The types and functions of cuda_fp16.h: IEEE binary16 in software. Arithmetic is done in float and rounded once to
/// nearest even, which is exact for + - * / of fp16. A fused multiply-add also rounds once. Operations that are one GPU
/// instruction are defined out of line, so that counting a kernel's code does not count their software implementation.
namespace convlab::simt::cuda {

uint16_t float_to_half(float value) noexcept;
float half_to_float(uint16_t bits) noexcept;

struct alignas(2) __half_raw {
  unsigned short x;
};

struct __half {
  uint16_t bits;

  __half() = default;
  constexpr __half(__half_raw raw) : bits(raw.x) {}
  __half(float value) : bits(float_to_half(value)) {}
  __half(double value) : bits(simt_detail::nearest_bits(value, kHalfFormat, float_to_half)) {}
  /// Integers, rounded once.
  template <class I>
  requires std::is_integral_v<I> __half(I value) : bits(simt_detail::nearest_bits(value, kHalfFormat, float_to_half)) {}
  operator float() const { return half_to_float(bits); }
  operator __half_raw() const { return {bits}; }
};
using half = __half;
using nv_half = __half;

struct alignas(4) __half2_raw {
  unsigned short x, y;
};

struct alignas(4) __half2 {
  __half x, y;

  __half2() = default;
  constexpr __half2(__half x_, __half y_) : x(x_), y(y_) {}
  constexpr __half2(__half2_raw raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  operator __half2_raw() const { return {x.bits, y.bits}; }
};
using half2 = __half2;
using nv_half2 = __half2;

constexpr __half __ushort_as_half(unsigned short bits) { return __half_raw{bits}; }
constexpr __half __short_as_half(short bits) { return __half_raw{static_cast<unsigned short>(bits)}; }
constexpr unsigned short __half_as_ushort(__half value) { return value.bits; }
constexpr short __half_as_short(__half value) { return static_cast<short>(value.bits); }

inline __half __float2half(float value) { return value; }
inline __half __float2half_rn(float value) { return value; }
/// Round down and up; __float2half_rz rounds towards zero.
__half __float2half_rd(float value) noexcept;
__half __float2half_ru(float value) noexcept;
__half __float2half_rz(float value) noexcept;
inline __half __double2half(double value) { return value; }
inline float __half2float(__half value) { return value; }
CONVLAB_SIMT_HALF_CONVERSIONS(__half, half, kHalfFormat)

constexpr __half __hneg(__half a) { return __ushort_as_half(a.bits ^ 0x8000u); }
constexpr __half __habs(__half a) { return __ushort_as_half(a.bits & 0x7fffu); }
constexpr __half simt_nan(__half) { return __ushort_as_half(0x7fff); }

#define CONVLAB_HALF __half
#define CONVLAB_HALF2 __half2
#include "convlab/simt/cuda/half_functions.h"
#undef CONVLAB_HALF
#undef CONVLAB_HALF2

inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half value) { return {value, value}; }
__half2 __floats2half2_rn(float x, float y) noexcept;
inline __half2 __float2half2_rn(float value) { return __floats2half2_rn(value, value); }
inline __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
inline float2 __half22float2(__half2 v) { return {v.x, v.y}; }
inline __half __low2half(__half2 v) { return v.x; }
inline __half __high2half(__half2 v) { return v.y; }
inline __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
inline __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }

}  // namespace convlab::simt::cuda
