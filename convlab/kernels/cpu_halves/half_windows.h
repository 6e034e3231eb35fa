#pragma once

#include <cstdint>

#include "convlab/kernels/ops/channels/pool_block.h"

namespace convlab {

/// Windows over some channels, a multiple of 8, of an image in Layout::channel_halves. Steps are elements from pixel to
/// pixel.
struct HalfWindows {
  const BlockPool& pool;
  int64_t channels = 0;
  const uint16_t* x = nullptr;
  int64_t x_step = 0;
  int64_t x_row = 0;             ///< the row of the image that x begins with
  int64_t first = 0, count = 0;  ///< rows of outputs
  uint16_t* y = nullptr;         ///< the first of them, or null
  float* plain = nullptr;        ///< instead of y: floats
  int64_t y_step = 0;
};

/// Writes these rows. A maximum is NaN where any element is, and -infinity where there is none; averages are summed in
/// float32.
void compute_windows(const HalfWindows& windows);

}  // namespace convlab
