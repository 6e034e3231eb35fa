#pragma once

#include "convlab/kernels/gpu_channels/pixel_conv.h"
#include "convlab/kernels/ops/activation.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// Eight halves in 16 bytes.
union PixelChunk {
  uint4 bytes;
  __half2 pairs[4];
};

/// What follows the sums of 8 maps, from `map` on, of output pixel `row`; of the last 8, some may not exist where y is plain.
inline __device__ void finish_pixel(const PixelConv& conv, float (&sum)[8], int64_t row, int map) {
  const int maps = conv.shape.k - map < 8 ? conv.shape.k - map : 8;
  if (conv.bias != nullptr) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (i < maps) sum[i] += conv.bias[map + i];
    }
  }
  if (conv.added != nullptr) {
    PixelChunk added;
    added.bytes = *reinterpret_cast<const uint4*>(conv.added + row * conv.added_step + map);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 pair = __half22float2(added.pairs[i]);
      sum[2 * i] += pair.x;
      sum[2 * i + 1] += pair.y;
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) sum[i] = activated(conv.activation, sum[i]);
  if (conv.plain != nullptr) {
    float* to = conv.plain + row * conv.shape.k + map;
    for (int i = 0; i < maps; ++i) to[i] = sum[i];
    return;
  }
  PixelChunk result;
#pragma unroll
  for (int i = 0; i < 4; ++i) result.pairs[i] = __floats2half2_rn(sum[2 * i], sum[2 * i + 1]);
  *reinterpret_cast<uint4*>(conv.y + row * conv.y_step + map) = result.bytes;
}

/// Leaves the sums of one part, as finish_pixel() takes them, in [pixel][map].
inline __device__ void leave_part(const PixelConv& conv, const float (&sum)[8], float* part, int64_t row, int map) {
  float* to = part + row * conv.shape.k + map;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (map + i < conv.shape.k) to[i] = sum[i];
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
