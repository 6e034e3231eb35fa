#pragma once

#include <cstdint>

namespace convlab {

// Sums of products with images in the lanes: what convolution and dense layers amount to in Layout::image_lanes.
//
// A "pixel" is 16 floats, 64 bytes: the same element of 16 images, one vector of AVX-512, two of AVX2, four of SSE4 and
// NEON. Then
//
//   y[m][j] = sum over terms i of w[i][m] * x[x_at[j] + offsets[i]]      for maps m and pixels j
//
// where w is a number, the others are pixels. A convolution's pixels are places in the output, and its terms channels
// and places in the filter; a dense layer's pixels are blocks of 16 images, and its terms the elements of an image.
// Sums of several maps and pixels, which may lie anywhere, stay in registers until all terms are added:
//
//   AVX-512: 8 maps x 3 pixels: 24 sums, 3 pixels, 1 weight of 32 registers; for 24 multiply-adds 3 loads, 8 broadcasts
//   AVX2: 6 maps x 2 vectors (a pixel): 12 sums, 2 vectors, 1 weight of 16 registers
//
// Every load is aligned and none crosses a line of the cache. No lane's work is wasted, except on images that a last
// block does not have. Pooling takes the four pixels of a 2x2 window for the pixels of a tile, and is a maximum of
// registers: six maps a tile with AVX-512, three with AVX2, whose weights stay and pixels pass by.

inline constexpr int kPoolWindow = 4;

struct LaneSums {
  const float* x = nullptr;
  const int64_t* x_at = nullptr;  ///< by pixel, in floats
  int64_t pixels = 0;
  const uint32_t* offsets = nullptr;  ///< by term, in floats
  int64_t terms = 0;
  const float* w = nullptr;      ///< terms x maps
  const float* ahead = nullptr;  ///< pixels that are needed next, as many as terms: fetched into the second cache
  int maps = 0;                  ///< 1 to most_lane_maps(pooled)
  float* y = nullptr;
  int64_t map_step = 0, pixel_step = 0;  ///< floats from map to map, and from pixel to pixel, of y
  bool add = false;                      ///< add to y; never with window
  const int64_t* window = nullptr;       ///< if given, four offsets: y is the largest of the sums there; NaN wins
};

/// The most maps of one call: depends on the registers of the processor.
int most_lane_maps(bool pooled);

void sum_lanes(const LaneSums& sums);

}  // namespace convlab
