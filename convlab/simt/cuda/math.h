#pragma once

#include <cmath>

/// CUDA's min() and max(), and the approximations of division and clamping, which are correctly rounded here. Names
/// that glibc itself declares (such as __expf) are macros in cuda_on_host.h.
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
// Signed and unsigned integers of one size: both count as unsigned.
#define CONVLAB_SIMT_MIN_MAX(I, U)                                \
  constexpr U min(I a, U b) { return min(static_cast<U>(a), b); } \
  constexpr U min(U a, I b) { return min(a, static_cast<U>(b)); } \
  constexpr U max(I a, U b) { return max(static_cast<U>(a), b); } \
  constexpr U max(U a, I b) { return max(a, static_cast<U>(b)); }
CONVLAB_SIMT_MIN_MAX(int, unsigned)
CONVLAB_SIMT_MIN_MAX(long, unsigned long)
CONVLAB_SIMT_MIN_MAX(long long, unsigned long long)
#undef CONVLAB_SIMT_MIN_MAX
// For a number and a NaN, these return the number.
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }
inline double min(float a, double b) { return std::fmin(static_cast<double>(a), b); }
inline double min(double a, float b) { return std::fmin(a, static_cast<double>(b)); }
inline double max(float a, double b) { return std::fmax(static_cast<double>(a), b); }
inline double max(double a, float b) { return std::fmax(a, static_cast<double>(b)); }

constexpr unsigned umin(unsigned a, unsigned b) { return min(a, b); }
constexpr unsigned umax(unsigned a, unsigned b) { return max(a, b); }
constexpr long long llmin(long long a, long long b) { return min(a, b); }
constexpr long long llmax(long long a, long long b) { return max(a, b); }
constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

inline float __fdividef(float a, float b) { return a / b; }
inline float fdividef(float a, float b) { return a / b; }
inline double fdivide(double a, double b) { return a / b; }
inline float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }

}  // namespace convlab::simt::cuda
