#pragma once

#include <math.h>

/// CUDA's mathematical functions that the C library lacks. Results of double are rounded from long double, those of
/// float from double, so they are at least as accurate as on a GPU, but not the same bits.
namespace convlab::simt::cuda {

// Each function of one argument: for double, for float with an f at the end of its name, and as an overload for float.
#define CONVLAB_SIMT_FUNCTION(name)             \
  [[gnu::const]] double name(double) noexcept;  \
  [[gnu::const]] float name##f(float) noexcept; \
  inline float name(float x) noexcept { return name##f(x); }
// The C library has the functions for double and with an f, and CUDA an overload for float.
#define CONVLAB_SIMT_OVERLOAD(name) \
  inline float name(float x) noexcept { return ::name##f(x); }

// C23 has some of them, with the same results.
#if defined(__GLIBC_PREREQ) && __GLIBC_PREREQ(2, 42)
CONVLAB_SIMT_OVERLOAD(rsqrt)
#else
/// 1 / sqrt(x)
CONVLAB_SIMT_FUNCTION(rsqrt)
#endif
#if defined(__GLIBC_PREREQ) && __GLIBC_PREREQ(2, 41)
CONVLAB_SIMT_OVERLOAD(sinpi)
CONVLAB_SIMT_OVERLOAD(cospi)
#else
/// sin(pi x) and cos(pi x), exact at multiples of 1/2
CONVLAB_SIMT_FUNCTION(sinpi)
CONVLAB_SIMT_FUNCTION(cospi)
#endif
/// 1 / cbrt(x)
CONVLAB_SIMT_FUNCTION(rcbrt)
/// Inverse functions of erf and erfc
CONVLAB_SIMT_FUNCTION(erfinv)
CONVLAB_SIMT_FUNCTION(erfcinv)
/// exp(x * x) * erfc(x)
CONVLAB_SIMT_FUNCTION(erfcx)
/// The normal distribution and its inverse function
CONVLAB_SIMT_FUNCTION(normcdf)
CONVLAB_SIMT_FUNCTION(normcdfinv)
/// Modified Bessel functions of the first kind
CONVLAB_SIMT_FUNCTION(cyl_bessel_i0)
CONVLAB_SIMT_FUNCTION(cyl_bessel_i1)
CONVLAB_SIMT_OVERLOAD(exp10)
CONVLAB_SIMT_OVERLOAD(j0)
CONVLAB_SIMT_OVERLOAD(j1)
CONVLAB_SIMT_OVERLOAD(y0)
CONVLAB_SIMT_OVERLOAD(y1)

#undef CONVLAB_SIMT_FUNCTION
#undef CONVLAB_SIMT_OVERLOAD

inline float jn(int n, float x) noexcept { return ::jnf(n, x); }
inline float yn(int n, float x) noexcept { return ::ynf(n, x); }

// Lengths of vectors and their reciprocals, without overflow of intermediate results.
#define CONVLAB_SIMT_LENGTHS(T, Wide, f)                                                                             \
  inline T rhypot##f(T x, T y) noexcept {                                                                            \
    return static_cast<T>(1 / sqrt(static_cast<Wide>(x) * x + static_cast<Wide>(y) * y));                            \
  }                                                                                                                  \
  inline T norm3d##f(T x, T y, T z) noexcept {                                                                       \
    return static_cast<T>(sqrt(static_cast<Wide>(x) * x + static_cast<Wide>(y) * y + static_cast<Wide>(z) * z));     \
  }                                                                                                                  \
  inline T rnorm3d##f(T x, T y, T z) noexcept {                                                                      \
    return static_cast<T>(1 / sqrt(static_cast<Wide>(x) * x + static_cast<Wide>(y) * y + static_cast<Wide>(z) * z)); \
  }                                                                                                                  \
  inline T norm4d##f(T x, T y, T z, T w) noexcept {                                                                  \
    return static_cast<T>(sqrt(static_cast<Wide>(x) * x + static_cast<Wide>(y) * y + static_cast<Wide>(z) * z +      \
                               static_cast<Wide>(w) * w));                                                           \
  }                                                                                                                  \
  inline T rnorm4d##f(T x, T y, T z, T w) noexcept {                                                                 \
    return static_cast<T>(1 / sqrt(static_cast<Wide>(x) * x + static_cast<Wide>(y) * y + static_cast<Wide>(z) * z +  \
                                   static_cast<Wide>(w) * w));                                                       \
  }                                                                                                                  \
  inline T norm##f(int count, const T* p) noexcept {                                                                 \
    Wide sum = 0;                                                                                                    \
    for (int i = 0; i < count; ++i) sum += static_cast<Wide>(p[i]) * p[i];                                           \
    return static_cast<T>(sqrt(sum));                                                                                \
  }                                                                                                                  \
  inline T rnorm##f(int count, const T* p) noexcept {                                                                \
    Wide sum = 0;                                                                                                    \
    for (int i = 0; i < count; ++i) sum += static_cast<Wide>(p[i]) * p[i];                                           \
    return static_cast<T>(1 / sqrt(sum));                                                                            \
  }                                                                                                                  \
  inline void sincospi##f(T x, T* sine, T* cosine) noexcept {                                                        \
    *sine = sinpi(x);                                                                                                \
    *cosine = cospi(x);                                                                                              \
  }

CONVLAB_SIMT_LENGTHS(double, long double, )
CONVLAB_SIMT_LENGTHS(float, double, f)

#undef CONVLAB_SIMT_LENGTHS

inline void sincospi(float x, float* sine, float* cosine) noexcept { sincospif(x, sine, cosine); }
inline void sincos(float x, float* sine, float* cosine) noexcept {
  *sine = ::sinf(x);
  *cosine = ::cosf(x);
}

}  // namespace convlab::simt::cuda
