#pragma once

#include <cstdint>

#include "convlab/kernels/cpu/nchw8c/pool_block.h"

namespace convlab {

/// Pooling windows over some channels, a multiple of 8, of an image in bf16 nhwc bfloat16. Steps are
/// elements from pixel to pixel.
struct HalfWindows {
  const BlockPool& pool;
  int64_t channels = 0;
  const uint16_t* x = nullptr;
  int64_t x_step = 0;
  int64_t x_row = 0;             ///< the image row that x begins with
  int64_t first = 0, count = 0;  ///< output rows
  uint16_t* y = nullptr;         ///< the first output row, or null
  float* plain = nullptr;        ///< fp32 output instead of y
  int64_t y_step = 0;
};

/// Writes these output rows. A maximum is NaN if any element is NaN, and -infinity for an empty window; averages are
/// summed in fp32.
void compute_windows(const HalfWindows& windows);

}  // namespace convlab
