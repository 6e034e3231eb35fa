#pragma once

#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/ops/activation.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// 1 / (1 + exp(-x)), to 2^-20, by a GPU's approximations of 2^x and 1 / x. NaN stays NaN.
inline __device__ float quick_sigmoid(float x) {
#ifdef __CUDA_ARCH__
  float power, result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(-1.44269504f * x));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(1 + power));
  return result;
#else
  return 1 / (1 + expf(-x));
#endif
}

/// activated() for a result that is rounded, to a half or to TF32: in few instructions where the kind is known when the kernel is
/// compiled.
inline __device__ float quickly_activated(const Activation& activation, float value) {
  switch (activation.kind) {
    case ActivationKind::sigmoid:
      return quick_sigmoid(value);
    case ActivationKind::swish:
      return value * quick_sigmoid(value);
    case ActivationKind::hard_swish:
      return value * (fminf(fmaxf(value + 3, 0), 6) * (1.0f / 6));
    default:
      return activated(activation, value);
  }
}

/// activated() for a result that becomes an Element: a half, or a float that keeps all its bits.
template <class Element>
__device__ float activated_as(const Activation& activation, float value) {
  if constexpr (sizeof(Element) == sizeof(__half)) return quickly_activated(activation, value);
  return activated(activation, value);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
