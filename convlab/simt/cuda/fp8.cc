// Converts numbers to and from fp8.

#include "convlab/simt/cuda/fp8.h"

#include <cmath>

namespace convlab::simt::cuda {

__nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                          __nv_fp8_interpretation_t kind) noexcept {
  const NarrowFormat format = kind == __NV_E4M3 ? kE4m3Format : kE5m2Format;
  return static_cast<unsigned char>(narrow(x, format, Rounding::nearest_even, saturate == __NV_SATFINITE));
}

__half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) noexcept {
  // e5m2 is the upper half of fp16.
  if (kind == __NV_E5M2) {
    const auto bits = static_cast<unsigned short>(x << 8);
    return (bits & 0x7fff) > 0x7c00 ? __half_raw{0x7fff} : __half_raw{bits};
  }
  const int exponent = x >> 3 & 15, mantissa = x & 7;
  if ((x & 0x7f) == 0x7f) return {0x7fff};
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                                   : std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  return __half(x & 0x80 ? -size : size);
}

}  // namespace convlab::simt::cuda
