// CUDA's mathematical functions that the C library lacks.

#include "convlab/simt/cuda/special_functions.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace convlab::simt::cuda {
namespace {

constexpr long double kPi = std::numbers::pi_v<long double>;
constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
constexpr long double kNaN = std::numeric_limits<long double>::quiet_NaN();

long double rsqrt_of(long double x) { return 1 / std::sqrt(x); }
long double rcbrt_of(long double x) { return 1 / std::cbrt(x); }

// In [-1, 1), or NaN for an infinity; sin(pi x) and cos(pi x) have the period 2.
long double in_period(long double x) { return std::remainder(x, 2.0L); }

long double sinpi_of(long double x) {
  const long double r = in_period(x);
  if (r == std::trunc(r)) return std::copysign(0.0L, x);
  // Near +-1 sin(pi r) = sin(pi (1 - r)), whose argument is small and exact.
  if (std::abs(r) > 0.5L) return std::copysign(std::sin(kPi * (1 - std::abs(r))), r);
  return std::sin(kPi * r);
}

long double cospi_of(long double x) {
  const long double r = std::abs(in_period(x));
  if (r == 0.5L) return 0;
  if (r > 0.75L) return -std::cos(kPi * (1 - r));
  return r > 0.25L ? std::sin(kPi * (0.5L - r)) : std::cos(kPi * r);
}

// Solves erfc(x) = y for 0 < y <= 1 by Halley's method. The start is Winitzki's approximation of the inverse of erf, or
// the first terms of the asymptotic series of erfc.
long double erfcinv_of_half(long double y) {
  constexpr long double kA = 0.147L;
  const long double log_term = std::log(y * (2 - y)), b = 2 / (kPi * kA) + log_term / 2;
  long double x = y > 0.01L ? std::sqrt(std::max(0.0L, std::sqrt(b * b - log_term / kA) - b))
                            : std::sqrt(-std::log(y * std::sqrt(-kPi * std::log(y))));
  for (int i = 0; i < 8; ++i) {
    const long double density = 2 / std::sqrt(kPi) * std::exp(-x * x);
    const long double step = (std::erfc(x) - y) / density;
    const long double next = x + step / (1 + x * step);
    if (next == x) break;
    x = next;
  }
  return x;
}

long double erfcinv_of(long double y) {
  if (!(y >= 0 && y <= 2)) return kNaN;
  if (y == 0 || y == 2) return y == 0 ? kInfinity : -kInfinity;
  return y <= 1 ? erfcinv_of_half(y) : -erfcinv_of_half(2 - y);
}

// Solves erf(x) = y. Small y need relative accuracy, which 1 - y would lose.
long double erfinv_of(long double y) {
  if (!(std::abs(y) <= 1)) return kNaN;
  if (y == 0) return y;
  if (std::abs(y) > 0.5L) return y > 0 ? erfcinv_of(1 - y) : -erfcinv_of(1 + y);
  long double x = y * std::sqrt(kPi) / 2;
  for (int i = 0; i < 20; ++i) {
    const long double step = (std::erf(x) - y) / (2 / std::sqrt(kPi) * std::exp(-x * x));
    const long double next = x - step / (1 + x * step);
    if (next == x) break;
    x = next;
  }
  return x;
}

long double erfcx_of(long double x) {
  if (x < 10) return std::exp(x * x) * std::erfc(x);
  if (x == kInfinity) return 0;
  // The continued fraction of erfc, from its end: x + (1/2) / (x + (2/2) / (x + (3/2) / ...)).
  long double tail = x;
  for (int i = 60; i >= 1; --i) tail = x + i / 2.0L / tail;
  return 1 / (tail * std::sqrt(kPi));
}

long double normcdf_of(long double x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }
long double normcdfinv_of(long double p) { return -std::sqrt(2.0L) * erfcinv_of(2 * p); }

// The power series: all terms are positive, so nothing cancels.
long double bessel_i(int order, long double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return order == 0 ? kInfinity : x;
  const long double square = x * x / 4;
  long double term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; k < 100000 && std::isfinite(sum); ++k) {
    term *= square / (static_cast<long double>(k) * (k + order));
    if (sum + term == sum) break;
    sum += term;
  }
  return sum;
}
long double cyl_bessel_i0_of(long double x) { return bessel_i(0, x); }
long double cyl_bessel_i1_of(long double x) { return bessel_i(1, x); }

}  // namespace

#define CONVLAB_SIMT_FUNCTION(name)                                            \
  double name(double x) noexcept { return static_cast<double>(name##_of(x)); } \
  float name##f(float x) noexcept { return static_cast<float>(name##_of(x)); }

#if !defined(__GLIBC_PREREQ) || !__GLIBC_PREREQ(2, 42)
CONVLAB_SIMT_FUNCTION(rsqrt)
#endif
#if !defined(__GLIBC_PREREQ) || !__GLIBC_PREREQ(2, 41)
CONVLAB_SIMT_FUNCTION(sinpi)
CONVLAB_SIMT_FUNCTION(cospi)
#endif
CONVLAB_SIMT_FUNCTION(rcbrt)
CONVLAB_SIMT_FUNCTION(erfinv)
CONVLAB_SIMT_FUNCTION(erfcinv)
CONVLAB_SIMT_FUNCTION(erfcx)
CONVLAB_SIMT_FUNCTION(normcdf)
CONVLAB_SIMT_FUNCTION(normcdfinv)
CONVLAB_SIMT_FUNCTION(cyl_bessel_i0)
CONVLAB_SIMT_FUNCTION(cyl_bessel_i1)

}  // namespace convlab::simt::cuda
