#pragma once

#include <cstdint>

#include "convlab/kernels/cpu_channels/channels.h"

namespace convlab {

// Sums of products with maps in the lanes: what convolutions amount to in Layout::channel_lanes.
//
//   y[j][m] = bias[m] + sum over terms t and channels c of x[pixels[j] - origin + offsets[t] + c] * w[t][c][m]
//
// for pixels j and a panel of maps m. A term is a block of 8 channels at one place of the filter. Pixels may lie
// anywhere, so strides and the ends of rows cost nothing. A weight is loaded once for a tile of pixels, a pixel's
// channel is broadcast:
//
//   AVX-512: 12 pixels x 32 maps: 24 sums, 2 weights, 1 pixel of 32 registers; 14 loads for 24 multiply-adds
//   AVX2: 6 pixels x 16 maps: 12 sums, 2 weights, 1 pixel of 16 registers; 8 loads for 12 multiply-adds
//
// Each sum runs through all its terms in order, so that its bits depend neither on the tile nor on the thread.

struct ChannelSums {
  const float* x = nullptr;
  const int32_t* pixels = nullptr;   ///< where each begins, in floats from x
  int32_t origin = 0;                ///< what lies at x
  int64_t count = 0;                 ///< of pixels
  const int32_t* offsets = nullptr;  ///< by term, in floats
  int64_t terms = 0;
  const float* w = nullptr;      ///< [terms][8][maps]; what follows is fetched ahead
  int64_t maps = 0;              ///< as channel_panel_maps() says
  const float* bias = nullptr;   ///< by map, may be null; used if `first`
  const float* added = nullptr;  ///< an array like y, may be null; used if `last`
  float* y = nullptr;            ///< the first pixel of the first 8 maps
  int64_t block_step = 0;        ///< floats from 8 maps to the next 8, of y and added
  bool first = true;             ///< otherwise the sums begin with y
  bool last = true;              ///< otherwise they end as they are, without `added` and `clamp`
  Clamp clamp;
};

/// Maps of a panel where `left` are left, a multiple of 8: 8, 16, or 32 if the processor has the registers.
int64_t channel_panel_maps(int64_t left);

/// Packs weights [maps][terms] by panel, [term][map of the panel], up to so many maps and terms, of which those that do
/// not exist are 0. `padded_maps` is a multiple of 8.
void pack_panels(const float* w, int64_t maps, int64_t terms, int64_t padded_maps, int64_t padded_terms, float* to);

void sum_channels(const ChannelSums& sums);

}  // namespace convlab
