// Software bfloat16 arithmetic for kernels on the host.

#include "convlab/simt/cuda/cuda_bfloat16.h"

#include <bit>

#include "convlab/base/half.h"
#include "convlab/simt/cuda/half_arithmetic.h"

namespace convlab::simt::cuda {
namespace {

__nv_bfloat16 rounded(float value, Rounding rounding) {
  return __ushort_as_bfloat16(static_cast<uint16_t>(narrow(value, kBrainFormat, rounding, false)));
}

}  // namespace

uint16_t float_to_brain(float value) noexcept {
  if (value != value) return static_cast<uint16_t>(kBrainFormat.not_a_number);
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(rounded_to_brain(value)) >> 16);
}

CONVLAB_SIMT_HALF_ARITHMETIC(__nv_bfloat16, __nv_bfloat162)

__nv_bfloat162 __floats2bfloat162_rn(float x, float y) noexcept { return {x, y}; }
__nv_bfloat16 __float2bfloat16_rd(float value) noexcept { return rounded(value, Rounding::down); }
__nv_bfloat16 __float2bfloat16_ru(float value) noexcept { return rounded(value, Rounding::up); }
__nv_bfloat16 __float2bfloat16_rz(float value) noexcept { return rounded(value, Rounding::towards_zero); }

}  // namespace convlab::simt::cuda
