#pragma once

#include <cmath>

/// CUDA's arithmetic with a rounding mode: rn to nearest even, rd down, ru up, rz towards zero. All results are exact
/// to the last bit, also of subnormal numbers and overflows, as on a GPU.
namespace convlab::simt::cuda {

// The compiler must not contract these to a fused multiply-add.
[[gnu::noinline]] inline float __fmul_rn(float a, float b) { return a * b; }
[[gnu::noinline]] inline float __fadd_rn(float a, float b) { return a + b; }
[[gnu::noinline]] inline float __fsub_rn(float a, float b) { return a - b; }
[[gnu::noinline]] inline double __dmul_rn(double a, double b) { return a * b; }
[[gnu::noinline]] inline double __dadd_rn(double a, double b) { return a + b; }
[[gnu::noinline]] inline double __dsub_rn(double a, double b) { return a - b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }

#define CONVLAB_SIMT_ROUNDED1(T, name)    \
  [[gnu::const]] T name##_rd(T) noexcept; \
  [[gnu::const]] T name##_ru(T) noexcept; \
  [[gnu::const]] T name##_rz(T) noexcept;
#define CONVLAB_SIMT_ROUNDED2(T, name)       \
  [[gnu::const]] T name##_rd(T, T) noexcept; \
  [[gnu::const]] T name##_ru(T, T) noexcept; \
  [[gnu::const]] T name##_rz(T, T) noexcept;
#define CONVLAB_SIMT_ROUNDED3(T, name)          \
  [[gnu::const]] T name##_rd(T, T, T) noexcept; \
  [[gnu::const]] T name##_ru(T, T, T) noexcept; \
  [[gnu::const]] T name##_rz(T, T, T) noexcept;

CONVLAB_SIMT_ROUNDED2(float, __fadd)
CONVLAB_SIMT_ROUNDED2(float, __fsub)
CONVLAB_SIMT_ROUNDED2(float, __fmul)
CONVLAB_SIMT_ROUNDED2(float, __fdiv)
CONVLAB_SIMT_ROUNDED3(float, __fmaf)
CONVLAB_SIMT_ROUNDED1(float, __frcp)
CONVLAB_SIMT_ROUNDED1(float, __fsqrt)
CONVLAB_SIMT_ROUNDED2(double, __dadd)
CONVLAB_SIMT_ROUNDED2(double, __dsub)
CONVLAB_SIMT_ROUNDED2(double, __dmul)
CONVLAB_SIMT_ROUNDED2(double, __ddiv)
CONVLAB_SIMT_ROUNDED3(double, __fma)
CONVLAB_SIMT_ROUNDED1(double, __drcp)
CONVLAB_SIMT_ROUNDED1(double, __dsqrt)

#undef CONVLAB_SIMT_ROUNDED1
#undef CONVLAB_SIMT_ROUNDED2
#undef CONVLAB_SIMT_ROUNDED3

/// Those whose subnormal operands count even with -ftz=true, which simt never sets.
inline float __fmaf_ieee_rn(float a, float b, float c) { return __fmaf_rn(a, b, c); }
inline float __fmaf_ieee_rd(float a, float b, float c) { return __fmaf_rd(a, b, c); }
inline float __fmaf_ieee_ru(float a, float b, float c) { return __fmaf_ru(a, b, c); }
inline float __fmaf_ieee_rz(float a, float b, float c) { return __fmaf_rz(a, b, c); }

}  // namespace convlab::simt::cuda
