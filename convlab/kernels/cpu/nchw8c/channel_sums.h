#pragma once

#include <cstdint>

#include "convlab/kernels/cpu/nchw8c/channels.h"

namespace convlab {

// Sums of products with output channels in the lanes: the arithmetic of convolutions in nchw8c.
//
//   y[j][m] = bias[m] + sum over blocks t and channels c of x[pixels[j] - origin + offsets[t] + c] * w[t][c][m]
//
// for pixels j and a panel of output channels m. A reduction block t is 8 input channels at one tap of the filter.
// Pixels may lie anywhere, so strides and the ends of rows cost nothing. A weight is loaded once for a tile of pixels,
// and a pixel's channel is broadcast:
//
//   AVX-512: 12 pixels x 32 output channels: 24 sums, 2 weights, 1 pixel of 32 registers; 14 loads for 24 multiply-adds
//   AVX2: 6 pixels x 16 output channels: 12 sums, 2 weights, 1 pixel of 16 registers; 8 loads for 12 multiply-adds
//
// Each sum adds its products in order, so its bits depend neither on the tile nor on the thread.

struct ChannelSums {
  const float* x = nullptr;
  const int32_t* pixels = nullptr;   ///< the offset of each, in floats; x is at `origin`
  int32_t origin = 0;                ///< the offset of what x points to
  int64_t count = 0;                 ///< number of pixels
  const int32_t* offsets = nullptr;  ///< by reduction block, in floats
  int64_t terms = 0;                 ///< number of reduction blocks
  const float* w = nullptr;          ///< [terms][8][maps]; what follows in memory is prefetched
  int64_t maps = 0;                  ///< output channels: see channel_panel_maps()
  const float* bias = nullptr;       ///< by output channel, may be null; used if `first`
  const float* added = nullptr;      ///< an array like y, may be null; used if `last`
  float* y = nullptr;                ///< the first pixel of the first 8 output channels
  int64_t block_step = 0;            ///< floats between blocks of 8 output channels, of y and added
  bool first = true;                 ///< otherwise the sums start from y
  bool last = true;                  ///< otherwise the sums are stored as they are, without `added` and `clamp`
  Clamp clamp;
};

/// Returns the output channels of a panel if `left` remain, a multiple of 8: 8, 16, or 32 if the processor has the
/// registers.
int64_t channel_panel_maps(int64_t left);

/// Packs weights [maps][terms] into panels, [reduction index][output channel of the panel], padded with zeros to
/// `padded_maps` output channels, a multiple of 8, and `padded_terms` reduction indices.
void pack_panels(const float* w, int64_t maps, int64_t terms, int64_t padded_maps, int64_t padded_terms, float* to);

void sum_channels(const ChannelSums& sums);

}  // namespace convlab
