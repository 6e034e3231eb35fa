#pragma once

#include <cstdint>
#include <span>

#include "convlab/kernels/cpu/nchw8c/channels.h"

namespace convlab {

/// One output row for some output channels, as sums over pixels that are stored in planes of float32.
struct FirstRow {
  const float* x = nullptr;          ///< planes: the pixels of a reduction index are contiguous, starting at x + offset
  std::span<const int64_t> offsets;  ///< by reduction index
  const float* w = nullptr;          ///< [reduction index][maps]
  int64_t maps = 0;                  ///< output channels: see channel_panel_maps()
  const float* bias = nullptr;       ///< by output channel
  const float* added = nullptr;      ///< like y, or nullptr
  Clamp clamp;
  float* y = nullptr;      ///< in nchw8c
  int64_t block_step = 0;  ///< floats between blocks of 8 output channels of y
  int64_t outputs = 0;
};

/// Writes the outputs: the bias, then products in the order of offsets, then `added`, then the clamp.
void compute_row(const FirstRow& row);

}  // namespace convlab
