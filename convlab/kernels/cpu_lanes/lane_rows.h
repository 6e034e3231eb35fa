#pragma once

#include <cstdint>

#include "convlab/kernels/kernel.h"

namespace convlab {

/// The first `count` pixels of row `row` (counted through all channels) of block `block` of 16 images of a step's
/// input, plain or in lanes, as pixels of 16 images. Lanes without an image get the last one's, or what is there.
void copy_lane_row(const ConvStep& step, const void* x, int64_t block, int64_t row, int64_t count, float* to);

/// The same of a plain input of bytes, as they are.
void copy_lane_row(const ConvStep& step, const void* x, int64_t block, int64_t row, int64_t count, uint8_t* to);

}  // namespace convlab
