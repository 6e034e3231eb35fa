#pragma once

#include "convlab/simt/cuda/cuda_bfloat16.h"

/// The types and functions of cuda_fp8.h, in software: e4m3 (no infinity, largest 448) and e5m2 (largest 57344), alone
/// and as vectors of 2 and 4. Conversions round once to nearest even. A program has them if it includes cuda_fp8.h.
/// The scale type e8m0 is not supported.
namespace convlab::simt::cuda {

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned;

/// What numbers beyond the largest one become: infinity, or NaN in e4m3; or the largest one.
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

__nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                          __nv_fp8_interpretation_t kind) noexcept;
__half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) noexcept;

inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8(x, saturate, kind);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                  __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__half(x), saturate, kind);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__nv_bfloat16(x), saturate, kind);
}

// Vectors of two: x is in the low byte.
#define CONVLAB_SIMT_FP8X2(name, Vector, scalar, x_, y_)                                                    \
  inline __nv_fp8x2_storage_t name(Vector v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {  \
    return static_cast<__nv_fp8x2_storage_t>(scalar(x_, saturate, kind) | scalar(y_, saturate, kind) << 8); \
  }
CONVLAB_SIMT_FP8X2(__nv_cvt_double2_to_fp8x2, double2, __nv_cvt_double_to_fp8, v.x, v.y)
CONVLAB_SIMT_FP8X2(__nv_cvt_float2_to_fp8x2, float2, __nv_cvt_float_to_fp8, v.x, v.y)
CONVLAB_SIMT_FP8X2(__nv_cvt_halfraw2_to_fp8x2, __half2_raw, __nv_cvt_halfraw_to_fp8, __half_raw{v.x}, __half_raw{v.y})
CONVLAB_SIMT_FP8X2(__nv_cvt_bfloat16raw2_to_fp8x2, __nv_bfloat162_raw, __nv_cvt_bfloat16raw_to_fp8,
                   __nv_bfloat16_raw{v.x}, __nv_bfloat16_raw{v.y})
#undef CONVLAB_SIMT_FP8X2
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(x), kind).x,
          __nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(x >> 8), kind).x};
}

namespace simt_detail {

/// One number. Conversions to it saturate.
template <__nv_fp8_interpretation_t kKind>
struct Fp8 {
  __nv_fp8_storage_t __x;

  Fp8() = default;
  explicit Fp8(float x) : __x(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, kKind)) {}
  explicit Fp8(double x) : __x(__nv_cvt_double_to_fp8(x, __NV_SATFINITE, kKind)) {}
  explicit Fp8(__half x) : Fp8(static_cast<float>(x)) {}
  explicit Fp8(__nv_bfloat16 x) : Fp8(static_cast<float>(x)) {}
  template <class I>
  requires std::is_integral_v<I>
  explicit Fp8(I x) : Fp8(static_cast<float>(x)) {}

  explicit operator __half() const { return __nv_cvt_fp8_to_halfraw(__x, kKind); }
  explicit operator float() const { return __half(*this); }
  explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
  explicit operator __nv_bfloat16() const { return static_cast<float>(*this); }
  explicit operator bool() const { return (__x & 0x7f) != 0; }
  explicit operator char() const { return static_cast<char>(static_cast<signed char>(*this)); }
  explicit operator signed char() const { return __half2char_rz(__half(*this)); }
  explicit operator unsigned char() const { return __half2uchar_rz(__half(*this)); }
  explicit operator short() const { return __half2short_rz(__half(*this)); }
  explicit operator unsigned short() const { return __half2ushort_rz(__half(*this)); }
  explicit operator int() const { return __half2int_rz(__half(*this)); }
  explicit operator unsigned() const { return __half2uint_rz(__half(*this)); }
  explicit operator long() const { return static_cast<long>(__half2ll_rz(__half(*this))); }
  explicit operator unsigned long() const { return static_cast<unsigned long>(__half2ull_rz(__half(*this))); }
  explicit operator long long() const { return __half2ll_rz(__half(*this)); }
  explicit operator unsigned long long() const { return __half2ull_rz(__half(*this)); }
};

template <__nv_fp8_interpretation_t kKind>
struct Fp8x2 {
  __nv_fp8x2_storage_t __x;

  Fp8x2() = default;
  explicit Fp8x2(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kKind)) {}
  explicit Fp8x2(double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, kKind)) {}
  explicit Fp8x2(__half2 v) : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, kKind)) {}
  explicit Fp8x2(__nv_bfloat162 v) : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, kKind)) {}
  explicit operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, kKind); }
  explicit operator float2() const { return __half22float2(__half2(*this)); }
};

template <__nv_fp8_interpretation_t kKind>
struct Fp8x4 {
  __nv_fp8x4_storage_t __x;

  Fp8x4() = default;
  explicit Fp8x4(Fp8x2<kKind> low, Fp8x2<kKind> high) : __x(low.__x | static_cast<unsigned>(high.__x) << 16) {}
  explicit Fp8x4(float4 v) : Fp8x4(Fp8x2<kKind>(float2{v.x, v.y}), Fp8x2<kKind>(float2{v.z, v.w})) {}
  explicit Fp8x4(double4 v) : Fp8x4(Fp8x2<kKind>(double2{v.x, v.y}), Fp8x2<kKind>(double2{v.z, v.w})) {}
  explicit Fp8x4(__half2 low, __half2 high) : Fp8x4(Fp8x2<kKind>(low), Fp8x2<kKind>(high)) {}
  explicit Fp8x4(__nv_bfloat162 low, __nv_bfloat162 high) : Fp8x4(Fp8x2<kKind>(low), Fp8x2<kKind>(high)) {}
  explicit operator float4() const {
    const float2 low = __half22float2(__nv_cvt_fp8x2_to_halfraw2(static_cast<unsigned short>(__x), kKind));
    const float2 high = __half22float2(__nv_cvt_fp8x2_to_halfraw2(static_cast<unsigned short>(__x >> 16), kKind));
    return {low.x, low.y, high.x, high.y};
  }
};

}  // namespace simt_detail

using __nv_fp8_e4m3 = simt_detail::Fp8<__NV_E4M3>;
using __nv_fp8_e5m2 = simt_detail::Fp8<__NV_E5M2>;
using __nv_fp8x2_e4m3 = simt_detail::Fp8x2<__NV_E4M3>;
using __nv_fp8x2_e5m2 = simt_detail::Fp8x2<__NV_E5M2>;
using __nv_fp8x4_e4m3 = simt_detail::Fp8x4<__NV_E4M3>;
using __nv_fp8x4_e5m2 = simt_detail::Fp8x4<__NV_E5M2>;

}  // namespace convlab::simt::cuda
