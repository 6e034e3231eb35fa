#pragma once

#include "convlab/kernels/deep_layer/layer.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Whether values, times a power of two, fit fp16's range.

/// max(largest, |value|), or NaN where either is.
inline __device__ float larger_magnitude(float largest, float value) {
#ifdef __CUDACC__
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(largest) : "f"(fabsf(value)));
  return largest;
#else
  return fabsf(value) <= largest ? largest : fabsf(value);
#endif
}

/// The magnitudes of values that were noted.
struct Range {
  float largest = 0;                ///< NaN if any is
  uint32_t smallest = 0xffffffffu;  ///< of those not zero: bits times two, less one, so that zero comes last

  __device__ void note(float value) {
    largest = larger_magnitude(largest, value);
    smallest = min(smallest, __float_as_uint(value) * 2 - 1);
  }

  /// For all values that a warp has noted: the bits of `largest`, ordered as magnitudes are, and `smallest`.
  __device__ uint2 of_warp() const {
    return {__reduce_max_sync(0xffffffffu, __float_as_uint(largest) & 0x7fffffffu),
            __reduce_min_sync(0xffffffffu, smallest)};
  }
  static __device__ Range joined(const uint2* of_warps, int count) {
    uint2 all = of_warps[0];
    for (int i = 1; i < count; ++i) all = {max(all.x, of_warps[i].x), min(all.y, of_warps[i].y)};
    return {__uint_as_float(all.x), all.y};
  }

  /// Powers of two: largest < 2^(top() + 1), smallest >= 2^bottom(). Infinity and NaN have a top of 128.
  __device__ int top() const { return static_cast<int>(__float_as_uint(largest) >> 23) - 127; }
  __device__ int bottom() const { return static_cast<int>((smallest + 1) >> 24) - 127; }

  /// Whether all values times 2^exponent are zero or normal numbers in fp16, and 2^`spare` of room is left below.
  __device__ bool fits(int exponent, int spare = 0) const {
    constexpr int kTop = 14, kBottom = -14, kSubnormal = -127, kMost = 60;
    if (largest == 0) return true;
    return top() + exponent <= kTop && bottom() > kSubnormal && bottom() + exponent >= kBottom + spare &&
           exponent >= -kMost && exponent <= kMost;
  }
};

/// 2^exponent, of a normal number.
inline __device__ float power_of_two(int exponent) {
  return __uint_as_float(static_cast<uint32_t>(exponent + 127) << 23);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
