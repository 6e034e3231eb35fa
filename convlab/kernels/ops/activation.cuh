#pragma once

#include "convlab/conv/epilogue.h"
#include "convlab/device/cuda_compat.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// Applies an activation to one value, in fp32 with CUDA's tanhf and expf (at most 2 ulp). NaN stays NaN.
inline __device__ float activated(const Activation& activation, float value) {
  switch (activation.kind) {
    case ActivationKind::none:
      return value;
    case ActivationKind::relu:
      return value < 0 ? 0 : value;
    case ActivationKind::leaky_relu:
      return value < 0 ? activation.alpha * value : value;
    case ActivationKind::clip:
      value = value < activation.alpha ? activation.alpha : value;
      return value > activation.beta ? activation.beta : value;
    case ActivationKind::sigmoid:
      return 1 / (1 + expf(-value));
    case ActivationKind::tanh:
      return tanhf(value);
    case ActivationKind::swish:
      return value / (1 + expf(-value));
    case ActivationKind::hard_swish:
      return value * fminf(fmaxf(value + 3, 0), 6) / 6;
  }
  return value;
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
