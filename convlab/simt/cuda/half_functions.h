// What cuda_fp16.h and cuda_bf16.h have in common: the arithmetic, comparisons and functions of CONVLAB_HALF, a number
// of 16 bits, and of CONVLAB_HALF2, two of them. A result is that of float or double, rounded once. No #pragma once:
// cuda_half.h and cuda_bfloat16.h include it, each with its own CONVLAB_HALF and CONVLAB_HALF2. Functions that are one
// GPU instruction are defined out of line, in half_arithmetic.h.

CONVLAB_HALF __hadd(CONVLAB_HALF a, CONVLAB_HALF b) noexcept;
CONVLAB_HALF __hsub(CONVLAB_HALF a, CONVLAB_HALF b) noexcept;
CONVLAB_HALF __hmul(CONVLAB_HALF a, CONVLAB_HALF b) noexcept;
/// a * b + c, rounded once.
CONVLAB_HALF __hfma(CONVLAB_HALF a, CONVLAB_HALF b, CONVLAB_HALF c) noexcept;
inline CONVLAB_HALF __hdiv(CONVLAB_HALF a, CONVLAB_HALF b) {
  return CONVLAB_HALF(static_cast<float>(a) / static_cast<float>(b));
}
/// The same without contraction to a fused multiply-add, which simt never does.
inline CONVLAB_HALF __hadd_rn(CONVLAB_HALF a, CONVLAB_HALF b) { return __hadd(a, b); }
inline CONVLAB_HALF __hsub_rn(CONVLAB_HALF a, CONVLAB_HALF b) { return __hsub(a, b); }
inline CONVLAB_HALF __hmul_rn(CONVLAB_HALF a, CONVLAB_HALF b) { return __hmul(a, b); }

bool __hisnan(CONVLAB_HALF a) noexcept;
/// -1 or 1 for an infinity
inline int __hisinf(CONVLAB_HALF a) { return __builtin_isinf_sign(static_cast<float>(a)); }

/// In [0, 1], and 0 instead of NaN.
inline CONVLAB_HALF simt_saturated(CONVLAB_HALF a) {
  const float x = a;
  return CONVLAB_HALF(x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f);
}
inline CONVLAB_HALF __hadd_sat(CONVLAB_HALF a, CONVLAB_HALF b) { return simt_saturated(__hadd(a, b)); }
inline CONVLAB_HALF __hsub_sat(CONVLAB_HALF a, CONVLAB_HALF b) { return simt_saturated(__hsub(a, b)); }
inline CONVLAB_HALF __hmul_sat(CONVLAB_HALF a, CONVLAB_HALF b) { return simt_saturated(__hmul(a, b)); }
inline CONVLAB_HALF __hfma_sat(CONVLAB_HALF a, CONVLAB_HALF b, CONVLAB_HALF c) {
  return simt_saturated(__hfma(a, b, c));
}
inline CONVLAB_HALF __hfma_relu(CONVLAB_HALF a, CONVLAB_HALF b, CONVLAB_HALF c) {
  const CONVLAB_HALF sum = __hfma(a, b, c);
  return static_cast<float>(sum) < 0.0f ? CONVLAB_HALF(0.0f) : sum;
}

// Comparisons with NaN are false, and with a u at the end of the name true.
#define CONVLAB_SIMT_COMPARISON(name)                                                                                \
  bool __h##name(CONVLAB_HALF a, CONVLAB_HALF b) noexcept;                                                           \
  bool __h##name##u(CONVLAB_HALF a, CONVLAB_HALF b) noexcept;                                                        \
  /* 1 or 0; a mask of 16 bits; whether both are true. */                                                            \
  inline CONVLAB_HALF2 __h##name##2(CONVLAB_HALF2 a, CONVLAB_HALF2 b) {                                              \
    return {CONVLAB_HALF(__h##name(a.x, b.x) ? 1.0f : 0.0f), CONVLAB_HALF(__h##name(a.y, b.y) ? 1.0f : 0.0f)};       \
  }                                                                                                                  \
  inline CONVLAB_HALF2 __h##name##u2(CONVLAB_HALF2 a, CONVLAB_HALF2 b) {                                             \
    return {CONVLAB_HALF(__h##name##u(a.x, b.x) ? 1.0f : 0.0f), CONVLAB_HALF(__h##name##u(a.y, b.y) ? 1.0f : 0.0f)}; \
  }                                                                                                                  \
  inline unsigned __h##name##2_mask(CONVLAB_HALF2 a, CONVLAB_HALF2 b) {                                              \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);                          \
  }                                                                                                                  \
  inline unsigned __h##name##u2_mask(CONVLAB_HALF2 a, CONVLAB_HALF2 b) {                                             \
    return (__h##name##u(a.x, b.x) ? 0xffffu : 0u) | (__h##name##u(a.y, b.y) ? 0xffff0000u : 0u);                    \
  }                                                                                                                  \
  inline bool __hb##name##2(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
  inline bool __hb##name##u2(CONVLAB_HALF2 a, CONVLAB_HALF2 b) {                                                     \
    return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y);                                                         \
  }
CONVLAB_SIMT_COMPARISON(eq)
CONVLAB_SIMT_COMPARISON(ne)
CONVLAB_SIMT_COMPARISON(lt)
CONVLAB_SIMT_COMPARISON(le)
CONVLAB_SIMT_COMPARISON(gt)
CONVLAB_SIMT_COMPARISON(ge)
#undef CONVLAB_SIMT_COMPARISON

/// For a number and a NaN these return the number; those with _nan return NaN. -0 is less than +0.
CONVLAB_HALF __hmax(CONVLAB_HALF a, CONVLAB_HALF b) noexcept;
CONVLAB_HALF __hmin(CONVLAB_HALF a, CONVLAB_HALF b) noexcept;
CONVLAB_HALF __hmax_nan(CONVLAB_HALF a, CONVLAB_HALF b) noexcept;
CONVLAB_HALF __hmin_nan(CONVLAB_HALF a, CONVLAB_HALF b) noexcept;

inline CONVLAB_HALF operator+(CONVLAB_HALF a, CONVLAB_HALF b) { return __hadd(a, b); }
inline CONVLAB_HALF operator-(CONVLAB_HALF a, CONVLAB_HALF b) { return __hsub(a, b); }
inline CONVLAB_HALF operator*(CONVLAB_HALF a, CONVLAB_HALF b) { return __hmul(a, b); }
inline CONVLAB_HALF operator/(CONVLAB_HALF a, CONVLAB_HALF b) { return __hdiv(a, b); }
inline CONVLAB_HALF operator+(CONVLAB_HALF a) { return a; }
inline CONVLAB_HALF operator-(CONVLAB_HALF a) { return __hneg(a); }
inline CONVLAB_HALF& operator+=(CONVLAB_HALF& a, CONVLAB_HALF b) { return a = __hadd(a, b); }
inline CONVLAB_HALF& operator-=(CONVLAB_HALF& a, CONVLAB_HALF b) { return a = __hsub(a, b); }
inline CONVLAB_HALF& operator*=(CONVLAB_HALF& a, CONVLAB_HALF b) { return a = __hmul(a, b); }
inline CONVLAB_HALF& operator/=(CONVLAB_HALF& a, CONVLAB_HALF b) { return a = __hdiv(a, b); }
inline CONVLAB_HALF& operator++(CONVLAB_HALF& a) { return a = __hadd(a, CONVLAB_HALF(1.0f)); }
inline CONVLAB_HALF& operator--(CONVLAB_HALF& a) { return a = __hsub(a, CONVLAB_HALF(1.0f)); }
inline CONVLAB_HALF operator++(CONVLAB_HALF& a, int) {
  const CONVLAB_HALF before = a;
  ++a;
  return before;
}
inline CONVLAB_HALF operator--(CONVLAB_HALF& a, int) {
  const CONVLAB_HALF before = a;
  --a;
  return before;
}
inline bool operator==(CONVLAB_HALF a, CONVLAB_HALF b) { return __heq(a, b); }
inline bool operator!=(CONVLAB_HALF a, CONVLAB_HALF b) { return __hneu(a, b); }
inline bool operator<(CONVLAB_HALF a, CONVLAB_HALF b) { return __hlt(a, b); }
inline bool operator>(CONVLAB_HALF a, CONVLAB_HALF b) { return __hgt(a, b); }
inline bool operator<=(CONVLAB_HALF a, CONVLAB_HALF b) { return __hle(a, b); }
inline bool operator>=(CONVLAB_HALF a, CONVLAB_HALF b) { return __hge(a, b); }

CONVLAB_HALF2 __hadd2(CONVLAB_HALF2 a, CONVLAB_HALF2 b) noexcept;
CONVLAB_HALF2 __hsub2(CONVLAB_HALF2 a, CONVLAB_HALF2 b) noexcept;
CONVLAB_HALF2 __hmul2(CONVLAB_HALF2 a, CONVLAB_HALF2 b) noexcept;
CONVLAB_HALF2 __hfma2(CONVLAB_HALF2 a, CONVLAB_HALF2 b, CONVLAB_HALF2 c) noexcept;
inline CONVLAB_HALF2 __h2div(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }
inline CONVLAB_HALF2 __hadd2_rn(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return __hadd2(a, b); }
inline CONVLAB_HALF2 __hsub2_rn(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return __hsub2(a, b); }
inline CONVLAB_HALF2 __hmul2_rn(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return __hmul2(a, b); }
inline CONVLAB_HALF2 __hadd2_sat(CONVLAB_HALF2 a, CONVLAB_HALF2 b) {
  return {__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)};
}
inline CONVLAB_HALF2 __hsub2_sat(CONVLAB_HALF2 a, CONVLAB_HALF2 b) {
  return {__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y)};
}
inline CONVLAB_HALF2 __hmul2_sat(CONVLAB_HALF2 a, CONVLAB_HALF2 b) {
  return {__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y)};
}
inline CONVLAB_HALF2 __hfma2_sat(CONVLAB_HALF2 a, CONVLAB_HALF2 b, CONVLAB_HALF2 c) {
  return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
}
inline CONVLAB_HALF2 __hfma2_relu(CONVLAB_HALF2 a, CONVLAB_HALF2 b, CONVLAB_HALF2 c) {
  return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
}
inline CONVLAB_HALF2 __hneg2(CONVLAB_HALF2 a) { return {__hneg(a.x), __hneg(a.y)}; }
inline CONVLAB_HALF2 __habs2(CONVLAB_HALF2 a) { return {__habs(a.x), __habs(a.y)}; }
inline CONVLAB_HALF2 __hmax2(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
inline CONVLAB_HALF2 __hmin2(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
inline CONVLAB_HALF2 __hmax2_nan(CONVLAB_HALF2 a, CONVLAB_HALF2 b) {
  return {__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)};
}
inline CONVLAB_HALF2 __hmin2_nan(CONVLAB_HALF2 a, CONVLAB_HALF2 b) {
  return {__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)};
}
inline CONVLAB_HALF2 __hisnan2(CONVLAB_HALF2 a) {
  return {CONVLAB_HALF(__hisnan(a.x) ? 1.0f : 0.0f), CONVLAB_HALF(__hisnan(a.y) ? 1.0f : 0.0f)};
}
/// a * b + c of complex numbers, x + i y.
inline CONVLAB_HALF2 __hcmadd(CONVLAB_HALF2 a, CONVLAB_HALF2 b, CONVLAB_HALF2 c) {
  return {__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}
inline float __low2float(CONVLAB_HALF2 a) { return a.x; }
inline float __high2float(CONVLAB_HALF2 a) { return a.y; }
inline CONVLAB_HALF2 __lowhigh2highlow(CONVLAB_HALF2 a) { return {a.y, a.x}; }

inline CONVLAB_HALF2 operator+(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return __hadd2(a, b); }
inline CONVLAB_HALF2 operator-(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return __hsub2(a, b); }
inline CONVLAB_HALF2 operator*(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return __hmul2(a, b); }
inline CONVLAB_HALF2 operator/(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return __h2div(a, b); }
inline CONVLAB_HALF2 operator+(CONVLAB_HALF2 a) { return a; }
inline CONVLAB_HALF2 operator-(CONVLAB_HALF2 a) { return __hneg2(a); }
inline CONVLAB_HALF2& operator+=(CONVLAB_HALF2& a, CONVLAB_HALF2 b) { return a = __hadd2(a, b); }
inline CONVLAB_HALF2& operator-=(CONVLAB_HALF2& a, CONVLAB_HALF2 b) { return a = __hsub2(a, b); }
inline CONVLAB_HALF2& operator*=(CONVLAB_HALF2& a, CONVLAB_HALF2 b) { return a = __hmul2(a, b); }
inline CONVLAB_HALF2& operator/=(CONVLAB_HALF2& a, CONVLAB_HALF2 b) { return a = __h2div(a, b); }
inline CONVLAB_HALF2& operator++(CONVLAB_HALF2& a) { return a = __hadd2(a, {CONVLAB_HALF(1.0f), CONVLAB_HALF(1.0f)}); }
inline CONVLAB_HALF2& operator--(CONVLAB_HALF2& a) { return a = __hsub2(a, {CONVLAB_HALF(1.0f), CONVLAB_HALF(1.0f)}); }
inline bool operator==(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return __hbeq2(a, b); }
inline bool operator!=(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return __hbneu2(a, b); }
inline bool operator<(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return __hblt2(a, b); }
inline bool operator>(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return __hbgt2(a, b); }
inline bool operator<=(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return __hble2(a, b); }
inline bool operator>=(CONVLAB_HALF2 a, CONVLAB_HALF2 b) { return __hbge2(a, b); }

#define CONVLAB_SIMT_FUNCTION(name, ...)        \
  inline CONVLAB_HALF h##name(CONVLAB_HALF a) { \
    const float x = a;                          \
    return CONVLAB_HALF(__VA_ARGS__);           \
  }                                             \
  inline CONVLAB_HALF2 h2##name(CONVLAB_HALF2 a) { return {h##name(a.x), h##name(a.y)}; }
CONVLAB_SIMT_FUNCTION(sqrt, __builtin_sqrtf(x))
CONVLAB_SIMT_FUNCTION(rsqrt, static_cast<float>(1.0 / __builtin_sqrt(x)))
CONVLAB_SIMT_FUNCTION(rcp, 1.0f / x)
CONVLAB_SIMT_FUNCTION(exp, ::expf(x))
CONVLAB_SIMT_FUNCTION(exp2, ::exp2f(x))
CONVLAB_SIMT_FUNCTION(exp10, ::exp10f(x))
CONVLAB_SIMT_FUNCTION(log, ::logf(x))
CONVLAB_SIMT_FUNCTION(log2, ::log2f(x))
CONVLAB_SIMT_FUNCTION(log10, ::log10f(x))
CONVLAB_SIMT_FUNCTION(sin, ::sinf(x))
CONVLAB_SIMT_FUNCTION(cos, ::cosf(x))
CONVLAB_SIMT_FUNCTION(tanh, ::tanhf(x))
CONVLAB_SIMT_FUNCTION(tanh_approx, ::tanhf(x))
CONVLAB_SIMT_FUNCTION(ceil, __builtin_ceilf(x))
CONVLAB_SIMT_FUNCTION(floor, __builtin_floorf(x))
CONVLAB_SIMT_FUNCTION(rint, __builtin_rintf(x))
CONVLAB_SIMT_FUNCTION(trunc, __builtin_truncf(x))
#undef CONVLAB_SIMT_FUNCTION
