#pragma once

#include <cstdint>

#include "convlab/simt/vector_types.h"

/// The types and functions of cuda_fp16.h: IEEE binary16 in software. Arithmetic is done in float and rounded once to
/// nearest even, which is exact for + - * / of fp16. A fused multiply-add also rounds once: float holds the product
/// exactly, and double the sum. Operations that are one GPU instruction are defined out of line, so that counting a
/// kernel's code does not count their software implementation.
namespace convlab::simt::cuda {

uint16_t float_to_half(float value) noexcept;
float half_to_float(uint16_t bits) noexcept;

struct __half {
  uint16_t bits;

  __half() = default;
  __half(float value) : bits(float_to_half(value)) {}
  __half(double value) : bits(float_to_half(static_cast<float>(value))) {}
  __half(int value) : bits(float_to_half(static_cast<float>(value))) {}
  __half(unsigned value) : bits(float_to_half(static_cast<float>(value))) {}
  operator float() const { return half_to_float(bits); }
  __half& operator+=(__half other);
  __half& operator-=(__half other);
  __half& operator*=(__half other);
  __half& operator/=(__half other);
};
using half = __half;

inline __half __float2half(float value) { return value; }
inline __half __float2half_rn(float value) { return value; }
/// Round down and up; __float2half_rz rounds towards zero.
__half __float2half_rd(float value) noexcept;
__half __float2half_ru(float value) noexcept;
inline __half __float2half_rz(float value) { return value < 0 ? __float2half_ru(value) : __float2half_rd(value); }
inline __half __double2half(double value) { return static_cast<float>(value); }
inline __half __uint2half_rn(unsigned value) { return value; }
inline int __half2int_rn(__half value) { return static_cast<int>(__builtin_rintf(half_to_float(value.bits))); }
inline int __half2int_rz(__half value) { return static_cast<int>(half_to_float(value.bits)); }
inline __half __int2half_rn(int value) { return value; }
inline float __half2float(__half value) { return value; }
inline unsigned short __half_as_ushort(__half value) { return value.bits; }
inline __half __ushort_as_half(unsigned short bits) {
  __half value;
  value.bits = bits;
  return value;
}

inline bool __heq(__half a, __half b) { return half_to_float(a.bits) == half_to_float(b.bits); }
inline bool __hne(__half a, __half b) { return !__heq(a, b); }
inline bool __hlt(__half a, __half b) { return half_to_float(a.bits) < half_to_float(b.bits); }
inline bool __hgt(__half a, __half b) { return __hlt(b, a); }
inline bool __hle(__half a, __half b) { return half_to_float(a.bits) <= half_to_float(b.bits); }
inline bool __hge(__half a, __half b) { return __hle(b, a); }
__half __hadd(__half a, __half b) noexcept;
__half __hsub(__half a, __half b) noexcept;
__half __hmul(__half a, __half b) noexcept;
inline __half __hdiv(__half a, __half b) { return static_cast<float>(a) / static_cast<float>(b); }
inline __half __hneg(__half a) { return __ushort_as_half(a.bits ^ 0x8000u); }
inline __half __habs(__half a) { return __ushort_as_half(a.bits & 0x7fffu); }

/// a * b + c, rounded once.
__half __hfma(__half a, __half b, __half c) noexcept;

inline __half operator+(__half a, __half b) { return __hadd(a, b); }
inline __half operator-(__half a, __half b) { return __hsub(a, b); }
inline __half operator*(__half a, __half b) { return __hmul(a, b); }
inline __half operator/(__half a, __half b) { return __hdiv(a, b); }
inline __half operator-(__half a) { return __hneg(a); }
inline __half& __half::operator+=(__half other) { return *this = *this + other; }
inline __half& __half::operator-=(__half other) { return *this = *this - other; }
inline __half& __half::operator*=(__half other) { return *this = *this * other; }
inline __half& __half::operator/=(__half other) { return *this = *this / other; }

inline bool operator==(__half a, __half b) { return static_cast<float>(a) == static_cast<float>(b); }
inline bool operator!=(__half a, __half b) { return static_cast<float>(a) != static_cast<float>(b); }
inline bool operator<(__half a, __half b) { return static_cast<float>(a) < static_cast<float>(b); }
inline bool operator>(__half a, __half b) { return static_cast<float>(a) > static_cast<float>(b); }
inline bool operator<=(__half a, __half b) { return static_cast<float>(a) <= static_cast<float>(b); }
inline bool operator>=(__half a, __half b) { return static_cast<float>(a) >= static_cast<float>(b); }
inline __half __hmax(__half a, __half b) { return a > b || !(b == b) ? a : b; }
inline __half __hmin(__half a, __half b) { return a < b || !(b == b) ? a : b; }
inline bool __hisnan(__half a) { return !(a == a); }

struct alignas(4) __half2 {
  __half x, y;

  __half2() = default;
  __half2(__half x_, __half y_) : x(x_), y(y_) {}
};
using half2 = __half2;

inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half value) { return {value, value}; }
__half2 __floats2half2_rn(float x, float y) noexcept;
inline __half2 __float2half2_rn(float value) { return __floats2half2_rn(value, value); }
inline __half __low2half(__half2 v) { return v.x; }
inline __half __high2half(__half2 v) { return v.y; }
inline float __low2float(__half2 v) { return v.x; }
inline float __high2float(__half2 v) { return v.y; }
inline __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
inline __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
inline __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
inline float2 __half22float2(__half2 v) { return {v.x, v.y}; }
inline __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
inline __half2 __h2div(__half2 a, __half2 b) { return {a.x / b.x, a.y / b.y}; }
inline __half2 __hneg2(__half2 v) { return {__hneg(v.x), __hneg(v.y)}; }
__half2 __hadd2(__half2 a, __half2 b) noexcept;
__half2 __hsub2(__half2 a, __half2 b) noexcept;
__half2 __hmul2(__half2 a, __half2 b) noexcept;
__half2 __hfma2(__half2 a, __half2 b, __half2 c) noexcept;
inline __half2 operator+(__half2 a, __half2 b) { return __hadd2(a, b); }
inline __half2 operator-(__half2 a, __half2 b) { return __hsub2(a, b); }
inline __half2 operator*(__half2 a, __half2 b) { return __hmul2(a, b); }
inline __half2 operator/(__half2 a, __half2 b) { return __h2div(a, b); }
inline __half2 operator-(__half2 v) { return __hneg2(v); }
inline __half2& operator+=(__half2& a, __half2 b) { return a = a + b; }
inline __half2& operator-=(__half2& a, __half2 b) { return a = a - b; }
inline __half2& operator*=(__half2& a, __half2 b) { return a = a * b; }
inline __half2& operator/=(__half2& a, __half2 b) { return a = a / b; }

}  // namespace convlab::simt::cuda
