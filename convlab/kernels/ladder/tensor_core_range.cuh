#pragma once

#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// The check for values outside fp16 range in tensor-core rungs, and the direct fp32 summation they fall back to.

/// Returns whether the block's values are outside fp16 range: the largest is at least 65504, or all are so small (below
/// 2^-12, not all 0) that their split parts lose bits. `largest` holds the bits of the thread's largest magnitude.
/// Synchronizes the block; all threads must call it.
inline __device__ bool out_of_range(uint32_t largest) {
  constexpr uint32_t kLargest = 0x477fe000, kSmall = 0x39800000;  // 65504 and 2^-12
  const bool too_large = __syncthreads_or(largest >= kLargest);
  if (__syncthreads_or(largest >= kSmall)) return too_large;
  return __syncthreads_or(largest > 0);
}

/// Computes the outputs of a block by direct fp32 summation. `image` points to the whole image, `to` to the block's
/// first pixel of its first output channel.
inline __device__ void convolve_plainly(const float* image, const float* w, float* to, const ConvShape& shape,
                                        int first_map, int maps, int first_pixel, int count) {
  for (int i = threadIdx.x; i < maps * count; i += blockDim.x) {
    const int map = i / count, pixel = first_pixel + i % count;
    const int top = pixel / shape.q * shape.stride_h - shape.pad_top;
    const int left = pixel % shape.q * shape.stride_w - shape.pad_left;
    const float* filter = w + (first_map + map) * shape.c * shape.r * shape.s;
    float sum = 0;
    for (int c = 0; c < shape.c; ++c) {
      float of_channel = 0;  // separate, so that small products are not rounded to the precision of a large sum
      for (int r = 0; r < shape.r; ++r) {
        const int h = top + r * shape.dilation_h;
        for (int s = 0; s < shape.s; ++s, ++filter) {
          const int across = left + s * shape.dilation_w;
          const bool inside = h >= 0 && h < shape.h && across >= 0 && across < shape.w;
          if (inside) of_channel += *filter * image[(c * shape.h + h) * shape.w + across];
        }
      }
      sum += of_channel;
    }
    to[map * (shape.p * shape.q) + i % count] = sum;
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
