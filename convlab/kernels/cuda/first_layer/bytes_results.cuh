#pragma once

#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/cuda/first_layer/pixels.cuh"
#include "convlab/kernels/ops/activation.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Activation and stores of the sums of a first layer of uint8 pixels.

/// Applies an activation to the accuracy of fp16.
template <bool kTanh>
__device__ float activated_roughly(const Activation& activation, float value) {
  if constexpr (!kTanh) return activated(activation, value);
#ifdef __CUDACC__
  asm volatile("tanh.approx.f32 %0, %0;" : "+f"(value));  // error 2^-11, as in the rounding to fp16 that follows
  return value;
#else
  return tanhf(value);
#endif
}

/// Stores kCount values as fp16 if `exist`; predicated, because a branch would cost more than it saves.
template <int kCount>
__device__ void store_halves(unsigned char* to, const float* values, bool exist) {
  static_assert(kCount == 0 || kCount == 1 || kCount == 2 || kCount == 4);
  if constexpr (kCount == 4) {
    const uint2 halves{to_halves(values[0], values[1]), to_halves(values[2], values[3])};
#ifdef __CUDACC__
    asm volatile("{.reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.v2.b32 [%1], {%2, %3};}" ::"r"(int{exist}), "l"(to),
                 "r"(halves.x), "r"(halves.y)
                 : "memory");
#else
    if (exist) *reinterpret_cast<uint2*>(to) = halves;
#endif
  } else if constexpr (kCount == 2) {
    const uint32_t halves = to_halves(values[0], values[1]);
#ifdef __CUDACC__
    asm volatile("{.reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.b32 [%1], %2;}" ::"r"(int{exist}), "l"(to),
                 "r"(halves)
                 : "memory");
#else
    if (exist) *reinterpret_cast<uint32_t*>(to) = halves;
#endif
  } else if constexpr (kCount == 1) {
    const unsigned short half = __half_as_ushort(__float2half_rn(values[0]));
#ifdef __CUDACC__
    asm volatile("{.reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.b16 [%1], %2;}" ::"r"(int{exist}), "l"(to),
                 "h"(half)
                 : "memory");
#else
    if (exist) *reinterpret_cast<unsigned short*>(to) = half;
#endif
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
