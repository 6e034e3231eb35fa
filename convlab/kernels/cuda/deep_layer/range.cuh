#pragma once

#include "convlab/kernels/cuda/deep_layer/deep_layer.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Checks whether values, scaled by a power of two, fit in fp16 range.

/// Returns max(largest, |value|), or NaN if either is NaN.
inline __device__ float larger_magnitude(float largest, float value) {
#ifdef __CUDACC__
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(largest) : "f"(fabsf(value)));
  return largest;
#else
  return fabsf(value) <= largest ? largest : fabsf(value);
#endif
}

/// The range of magnitudes of the values passed to note().
struct Range {
  float largest = 0;                ///< NaN if any value is
  uint32_t smallest = 0xffffffffu;  ///< of the nonzero values: bits times two, minus one, so that zero is last

  __device__ void note(float value) {
    largest = larger_magnitude(largest, value);
    smallest = min(smallest, __float_as_uint(value) * 2 - 1);
  }

  /// Returns, for all values that a warp has noted, the bits of `largest`, which are ordered like magnitudes, and
  /// `smallest`.
  __device__ uint2 of_warp() const {
    return {__reduce_max_sync(0xffffffffu, __float_as_uint(largest) & 0x7fffffffu),
            __reduce_min_sync(0xffffffffu, smallest)};
  }
  static __device__ Range joined(const uint2* of_warps, int count) {
    uint2 all = of_warps[0];
    for (int i = 1; i < count; ++i) all = {max(all.x, of_warps[i].x), min(all.y, of_warps[i].y)};
    return {__uint_as_float(all.x), all.y};
  }

  /// Return exponents: largest < 2^(top() + 1), smallest >= 2^bottom(). Infinity and NaN have a top of 128.
  __device__ int top() const { return static_cast<int>(__float_as_uint(largest) >> 23) - 127; }
  __device__ int bottom() const { return static_cast<int>((smallest + 1) >> 24) - 127; }

  /// Returns whether all values times 2^exponent are zero or normal fp16 numbers, with a margin of 2^`spare` at the
  /// lower end.
  __device__ bool fits(int exponent, int spare = 0) const {
    constexpr int kTop = 14, kBottom = -14, kSubnormal = -127, kMost = 60;
    if (largest == 0) return true;
    return top() + exponent <= kTop && bottom() > kSubnormal && bottom() + exponent >= kBottom + spare &&
           exponent >= -kMost && exponent <= kMost;
  }
};

/// Returns 2^exponent, for exponents of normal numbers.
inline __device__ float power_of_two(int exponent) {
  return __uint_as_float(static_cast<uint32_t>(exponent + 127) << 23);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
