#pragma once

#include <type_traits>

#include "convlab/kernels/cuda/nhwc/pixel_conv.h"
#include "convlab/kernels/ops/activation.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// Two adjacent channels of a pixel.
template <class Element>
using PixelPair = std::conditional_t<kIsHalf<Element>, __half2, float2>;

inline __device__ float2 floats_of(__half2 pair) { return __half22float2(pair); }
inline __device__ float2 floats_of(float2 pair) { return pair; }

template <class Element>
__device__ PixelPair<Element> pair_of(float first, float second) {
  if constexpr (kIsHalf<Element>) {
    return __floats2half2_rn(first, second);
  } else {
    return make_float2(first, second);
  }
}

/// Eight channels of a pixel.
template <class Element>
union PixelChunk {
  static constexpr int kWords = sizeof(Element) / 2;
  uint4 words[kWords];
  PixelPair<Element> pairs[4];

  __device__ void load(const Element* from) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = reinterpret_cast<const uint4*>(from)[i];
  }
  __device__ void store(Element* to) const {
#pragma unroll
    for (int i = 0; i < kWords; ++i) reinterpret_cast<uint4*>(to)[i] = words[i];
  }
};

/// Loads eight channels of a pixel as floats.
template <class Element>
__device__ void load_eight(const Element* from, float (&to)[8]) {
  PixelChunk<Element> chunk;
  chunk.load(from);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = floats_of(chunk.pairs[i]);
    to[2 * i] = pair.x;
    to[2 * i + 1] = pair.y;
  }
}

template <class Element>
__device__ void store_eight(Element* to, const float (&from)[8]) {
  PixelChunk<Element> chunk;
#pragma unroll
  for (int i = 0; i < 4; ++i) chunk.pairs[i] = pair_of<Element>(from[2 * i], from[2 * i + 1]);
  chunk.store(to);
}

/// Adds the bias and the fused addend to the sums of 8 output channels, from `map` on, of output pixel `row`. If y is
/// nchw, some of the last 8 may not exist.
template <class Element>
__device__ void add_given(const PixelConvOf<Element>& conv, float (&sum)[8], int64_t row, int map) {
  if (conv.bias != nullptr) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (map + i < conv.shape.k) sum[i] += conv.bias[map + i];
    }
  }
  if (conv.added != nullptr) {
    float added[8];
    load_eight(conv.added + row * conv.added_step + map, added);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum[i] += added[i];
  }
}

/// Writes the sums of 8 output channels of a pixel.
template <class Element>
__device__ void leave_pixel(const PixelConvOf<Element>& conv, const float (&sum)[8], int64_t row, int map) {
  if (conv.plain != nullptr) {
    float* to = conv.plain + row * conv.shape.k + map;
    for (int i = 0; i < 8 && map + i < conv.shape.k; ++i) to[i] = sum[i];
  } else {
    store_eight(conv.y + row * conv.y_step + map, sum);
  }
}

/// Epilogue of such sums: bias, addend, activation and store.
template <class Element>
__device__ void finish_pixel(const PixelConvOf<Element>& conv, float (&sum)[8], int64_t row, int map) {
  add_given(conv, sum, row, map);
#pragma unroll
  for (int i = 0; i < 8; ++i) sum[i] = activated(conv.activation, sum[i]);
  leave_pixel(conv, sum, row, map);
}

/// Stores the sums of one split-K part, for finish_pixel(), in [pixel][output channel].
inline __device__ void leave_part(int maps, const float (&sum)[8], float* part, int64_t row, int map) {
  float* to = part + row * maps + map;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (map + i < maps) to[i] = sum[i];
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
