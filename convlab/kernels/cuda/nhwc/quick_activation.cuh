#pragma once

#include "convlab/kernels/cpu/nchw8c/channels.h"
#include "convlab/kernels/cuda/nhwc/pixel_conv.h"
#include "convlab/kernels/ops/activation.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// Returns min(max(value, low), high), or NaN if the value is NaN.
inline __device__ float clamped(const Clamp& clamp, float value) {
#ifdef __CUDA_ARCH__
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(value) : "f"(clamp.low));
  asm("min.NaN.f32 %0, %0, %1;" : "+f"(value) : "f"(clamp.high));
  return value;
#else
  value = value < clamp.low ? clamp.low : value;
  return value > clamp.high ? clamp.high : value;
#endif
}

/// Returns 1 / x with an error of at most one unit in the last place; 0 if x is infinite or beyond 2^126.
inline __device__ float quick_inverse(float x) {
#ifdef __CUDA_ARCH__
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1 / x;
#endif
}

/// Returns 1 / (1 + exp(-x)) with an error of 2^-20, by a GPU's approximations of 2^x and 1 / x. NaN stays NaN.
inline __device__ float quick_sigmoid(float x) {
#ifdef __CUDA_ARCH__
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(-1.44269504f * x));
  return quick_inverse(1 + power);
#else
  return 1 / (1 + expf(-x));
#endif
}

/// The same in fp32 with CUDA's expf, with an error of a few units in the last place. Avoids a division, which
/// branches.
inline __device__ float near_sigmoid(float x) { return quick_inverse(1 + expf(-x)); }

/// activated() for a result that is rounded to fp16 or TF32. Takes few instructions if the kind is known at compile
/// time.
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

/// activated() for a result that becomes an Element: fp16, or fp32 with full precision.
template <class Element>
__device__ float activated_as(const Activation& activation, float value) {
  if constexpr (kIsHalf<Element>) return quickly_activated(activation, value);
  if (activation.kind == ActivationKind::sigmoid) return near_sigmoid(value);
  if (activation.kind == ActivationKind::swish) return value * near_sigmoid(value);
  return activated(activation, value);
}

/// activated() for many values, with one branch for all of them. The activation is not a clamp. kQuickly: with the
/// accuracy of quickly_activated().
template <bool kQuickly, int kCount>
__device__ void bend(const Activation& activation, float (&values)[kCount]) {
  const auto each = [&](auto function) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) values[i] = function(values[i]);
  };
  switch (activation.kind) {
    case ActivationKind::leaky_relu:
      return each([&](float value) { return value < 0 ? activation.alpha * value : value; });
    case ActivationKind::sigmoid:
      return each([](float value) { return kQuickly ? quick_sigmoid(value) : near_sigmoid(value); });
    case ActivationKind::tanh:
      return each([](float value) { return kQuickly ? 2 * quick_sigmoid(2 * value) - 1 : tanhf(value); });
    case ActivationKind::swish:
      return each([](float value) { return value * (kQuickly ? quick_sigmoid(value) : near_sigmoid(value)); });
    case ActivationKind::hard_swish:
      return each([](float value) { return value * (fminf(fmaxf(value + 3, 0), 6) * (1.0f / 6)); });
    default:
      return;
  }
}

/// The same for all activations, including clamps.
template <bool kQuickly, int kCount>
__device__ void activate(const Activation& activation, float (&values)[kCount]) {
  const std::optional<Clamp> clamp = clamp_of(activation);
  if (!clamp) return bend<kQuickly>(activation, values);
#pragma unroll
  for (float& value : values) value = clamped(*clamp, value);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
