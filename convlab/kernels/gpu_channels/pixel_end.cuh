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

/// Eight channels of a pixel, as floats.
inline __device__ void load_eight(const __half* from, float (&to)[8]) {
  PixelChunk chunk;
  chunk.bytes = *reinterpret_cast<const uint4*>(from);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = __half22float2(chunk.pairs[i]);
    to[2 * i] = pair.x;
    to[2 * i + 1] = pair.y;
  }
}
inline __device__ void load_eight(const float* from, float (&to)[8]) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float4 four = reinterpret_cast<const float4*>(from)[i];
    to[4 * i] = four.x;
    to[4 * i + 1] = four.y;
    to[4 * i + 2] = four.z;
    to[4 * i + 3] = four.w;
  }
}

inline __device__ void store_eight(__half* to, const float (&from)[8]) {
  PixelChunk chunk;
#pragma unroll
  for (int i = 0; i < 4; ++i) chunk.pairs[i] = __floats2half2_rn(from[2 * i], from[2 * i + 1]);
  *reinterpret_cast<uint4*>(to) = chunk.bytes;
}
inline __device__ void store_eight(float* to, const float (&from)[8]) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    reinterpret_cast<float4*>(to)[i] = make_float4(from[4 * i], from[4 * i + 1], from[4 * i + 2], from[4 * i + 3]);
  }
}

/// What follows the sums of 8 maps, from `map` on, of output pixel `row`; of the last 8, some may not exist where y is plain.
template <class Element>
__device__ void finish_pixel(const PixelConvOf<Element>& conv, float (&sum)[8], int64_t row, int map) {
  const int maps = conv.shape.k - map < 8 ? conv.shape.k - map : 8;
  if (conv.bias != nullptr) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (i < maps) sum[i] += conv.bias[map + i];
    }
  }
  if (conv.added != nullptr) {
    float added[8];
    load_eight(conv.added + row * conv.added_step + map, added);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum[i] += added[i];
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) sum[i] = activated(conv.activation, sum[i]);
  if (conv.plain != nullptr) {
    float* to = conv.plain + row * conv.shape.k + map;
    for (int i = 0; i < maps; ++i) to[i] = sum[i];
  } else {
    store_eight(conv.y + row * conv.y_step + map, sum);
  }
}

/// Leaves the sums of one part, as finish_pixel() takes them, in [pixel][map].
inline __device__ void leave_part(int maps, const float (&sum)[8], float* part, int64_t row, int map) {
  float* to = part + row * maps + map;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (map + i < maps) to[i] = sum[i];
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
