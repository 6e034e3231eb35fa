// Software fp16 arithmetic for kernels on the host.

#include "convlab/simt/cuda/cuda_half.h"

#include "convlab/base/half.h"
#include "convlab/simt/cuda/half_arithmetic.h"

namespace convlab::simt::cuda {
namespace {

__half rounded(float value, Rounding rounding) {
  return __ushort_as_half(static_cast<uint16_t>(narrow(value, kHalfFormat, rounding, false)));
}

}  // namespace

uint16_t float_to_half(float value) noexcept { return convlab::float_to_half(value); }
float half_to_float(uint16_t bits) noexcept { return convlab::half_to_float(bits); }

CONVLAB_SIMT_HALF_ARITHMETIC(__half, __half2)

__half2 __floats2half2_rn(float x, float y) noexcept { return {x, y}; }
__half __float2half_rd(float value) noexcept { return rounded(value, Rounding::down); }
__half __float2half_ru(float value) noexcept { return rounded(value, Rounding::up); }
__half __float2half_rz(float value) noexcept { return rounded(value, Rounding::towards_zero); }

}  // namespace convlab::simt::cuda
