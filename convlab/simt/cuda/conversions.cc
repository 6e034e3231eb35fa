// Converts floating-point numbers to integers as a GPU does, also numbers that the integer type does not have.

#include "convlab/simt/cuda/conversions.h"

#include <cmath>
#include <limits>

namespace convlab::simt::cuda {
namespace {

template <class I, class F>
I to_integer(F whole) {
  constexpr auto kLeast = static_cast<F>(std::numeric_limits<I>::min());
  constexpr F kBeyond = std::numeric_limits<I>::digits == 64   ? static_cast<F>(0x1p64)
                        : std::numeric_limits<I>::digits == 63 ? static_cast<F>(0x1p63)
                        : std::numeric_limits<I>::digits == 32 ? static_cast<F>(0x1p32)
                                                               : static_cast<F>(0x1p31);
  if (std::isnan(whole)) return sizeof(F) == 4 && sizeof(I) == 4 ? I{0} : static_cast<I>(1ull << (8 * sizeof(I) - 1));
  if (whole <= kLeast) return std::numeric_limits<I>::min();
  return whole >= kBeyond ? std::numeric_limits<I>::max() : static_cast<I>(whole);
}

}  // namespace

#define CONVLAB_SIMT_TO_INTEGER(From, I, name)                              \
  I name##_rn(From x) noexcept { return to_integer<I>(std::nearbyint(x)); } \
  I name##_rd(From x) noexcept { return to_integer<I>(std::floor(x)); }     \
  I name##_ru(From x) noexcept { return to_integer<I>(std::ceil(x)); }      \
  I name##_rz(From x) noexcept { return to_integer<I>(std::trunc(x)); }

CONVLAB_SIMT_TO_INTEGER(float, int, __float2int)
CONVLAB_SIMT_TO_INTEGER(float, unsigned, __float2uint)
CONVLAB_SIMT_TO_INTEGER(float, long long, __float2ll)
CONVLAB_SIMT_TO_INTEGER(float, unsigned long long, __float2ull)
CONVLAB_SIMT_TO_INTEGER(double, int, __double2int)
CONVLAB_SIMT_TO_INTEGER(double, unsigned, __double2uint)
CONVLAB_SIMT_TO_INTEGER(double, long long, __double2ll)
CONVLAB_SIMT_TO_INTEGER(double, unsigned long long, __double2ull)

}  // namespace convlab::simt::cuda
