#pragma once

#include <cstdint>

namespace convlab {

// Sums of products with images in the vector lanes: the arithmetic of convolutions and dense layers in
// nchw16n.
//
// A "pixel" is 16 floats, 64 bytes: the same element of 16 images, one vector of AVX-512, two of AVX2, four of SSE4 and
// NEON. Then
//
//   y[m][j] = sum over i of w[i][m] * x[x_at[j] + offsets[i]]      for output channels m and pixels j
//
// where w is a number, and x and y are pixels. In a convolution, j is an output position and i, the reduction index, an
// input channel and filter tap; in a dense layer, j is a block of 16 images and i an element of an image. The sums of
// several output channels and pixels, which may lie anywhere, stay in registers for the whole reduction:
//
//   AVX-512: 8 output channels x 3 pixels: 24 sums, 3 pixels, 1 weight of 32 registers; 24 multiply-adds take 3 loads
//            and 8 broadcasts
//   AVX2: 6 output channels x 2 vectors (a pixel): 12 sums, 2 vectors, 1 weight of 16 registers
//
// Every load is aligned and none crosses a cache line. No lane is wasted, except for images that the last block lacks.
// Pooling uses the four pixels of a 2x2 window as the pixels of a tile, and is a maximum of registers: six output
// channels per tile with AVX-512, three with AVX2, where weights stay in registers and pixels stream through.

inline constexpr int kPoolWindow = 4;

struct LaneSums {
  const float* x = nullptr;
  const int64_t* x_at = nullptr;  ///< by pixel, in floats
  int64_t pixels = 0;
  const uint32_t* offsets = nullptr;  ///< by reduction index, in floats
  int64_t terms = 0;                  ///< length of the reduction
  const float* w = nullptr;           ///< [terms][maps]
  const float* ahead = nullptr;       ///< pixels that are needed next, as many as terms: prefetched into L2
  int maps = 0;                       ///< output channels: 1 to most_lane_maps(pooled)
  float* y = nullptr;
  int64_t map_step = 0, pixel_step = 0;  ///< floats between output channels, and between pixels, of y
  bool add = false;                      ///< add to y; never with window
  const int64_t* window = nullptr;       ///< if set, four offsets: y is the maximum of the sums there; NaN propagates
};

/// Returns the most output channels of one call, which depends on the registers of the processor.
int most_lane_maps(bool pooled);

void sum_lanes(const LaneSums& sums);

}  // namespace convlab
