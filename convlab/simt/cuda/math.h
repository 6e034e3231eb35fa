#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

/// CUDA's arithmetic functions that C++ lacks. Functions that a GPU approximates are correctly rounded here. Names that
/// glibc itself declares (such as __expf) are macros in cuda_on_host.h.
namespace convlab::simt::cuda {

#define CONVLAB_SIMT_MIN_MAX(T)                       \
  constexpr T min(T a, T b) { return b < a ? b : a; } \
  constexpr T max(T a, T b) { return a < b ? b : a; }
CONVLAB_SIMT_MIN_MAX(int)
CONVLAB_SIMT_MIN_MAX(unsigned)
CONVLAB_SIMT_MIN_MAX(long)
CONVLAB_SIMT_MIN_MAX(unsigned long)
CONVLAB_SIMT_MIN_MAX(long long)
CONVLAB_SIMT_MIN_MAX(unsigned long long)
#undef CONVLAB_SIMT_MIN_MAX
// For a number and a NaN, these return the number.
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }
constexpr unsigned min(int a, unsigned b) { return min(static_cast<unsigned>(a), b); }
constexpr unsigned min(unsigned a, int b) { return min(a, static_cast<unsigned>(b)); }
constexpr unsigned max(int a, unsigned b) { return max(static_cast<unsigned>(a), b); }
constexpr unsigned max(unsigned a, int b) { return max(a, static_cast<unsigned>(b)); }

inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
// These must not be contracted to a fused multiply-add.
[[gnu::noinline]] inline float __fmul_rn(float a, float b) { return a * b; }
[[gnu::noinline]] inline float __fadd_rn(float a, float b) { return a + b; }
[[gnu::noinline]] inline float __fsub_rn(float a, float b) { return a - b; }
[[gnu::noinline]] inline double __dmul_rn(double a, double b) { return a * b; }
[[gnu::noinline]] inline double __dadd_rn(double a, double b) { return a + b; }
/// Rounds down. The sum of an exact product and c, kept exactly in two parts, shows on which side of it the nearest
/// float lies.
inline float __fmaf_rd(float a, float b, float c) {
  const double product = static_cast<double>(a) * b, sum = product + c, taken = sum - product;
  const double rest = (product - (sum - taken)) + (c - taken);
  const auto nearest = static_cast<float>(sum);
  const bool above = nearest > sum || (nearest == sum && rest < 0);
  return above ? std::nextafterf(nearest, -INFINITY) : nearest;
}
inline float __fmul_rd(float a, float b) { return __fmaf_rd(a, b, 0.0f); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }
inline float sinpif(float x) { return static_cast<float>(std::sin(3.14159265358979323846 * std::remainder(x, 2.0))); }
inline float cospif(float x) { return static_cast<float>(std::cos(3.14159265358979323846 * std::remainder(x, 2.0))); }
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}

inline int __float2int_rn(float x) { return static_cast<int>(std::nearbyint(x)); }
inline int __float2int_rz(float x) { return static_cast<int>(x); }
inline int __float2int_rd(float x) { return static_cast<int>(std::floor(x)); }
inline int __float2int_ru(float x) { return static_cast<int>(std::ceil(x)); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }

constexpr int __popc(unsigned x) { return std::popcount(x); }
constexpr int __popcll(unsigned long long x) { return std::popcount(x); }
constexpr int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
constexpr int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
constexpr int __ffs(int x) { return __builtin_ffs(x); }
constexpr unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1u) << (31 - i);
  return reversed;
}
/// Selects four of the eight bytes of x (0 to 3) and y (4 to 7): each hex digit of the selector, the lowest first, is
/// the index of one byte.
constexpr unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  unsigned bytes = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned from = selector >> 4 * i & 7u;
    bytes |= ((from < 4 ? x : y) >> 8 * (from % 4) & 0xffu) << 8 * i;
  }
  return bytes;
}
constexpr int __mul24(int a, int b) { return a * b; }
constexpr int __mulhi(int a, int b) { return static_cast<int>((static_cast<int64_t>(a) * b) >> 32); }
constexpr unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32);
}

/// A load through the read-only cache: a plain load on the host.
template <class T>
[[gnu::always_inline]] inline T __ldg(const T* address) {
  return *address;
}
template <class T>
[[gnu::always_inline]] inline T __ldcs(const T* address) {
  return *address;
}
template <class T>
[[gnu::always_inline]] inline void __stcs(T* address, T value) {
  *address = value;
}

}  // namespace convlab::simt::cuda
