#pragma once

#include <cstdint>

#include "convlab/kernels/kernel.h"

namespace convlab {

/// Row `row` (counted through all channels) of block `block` of 16 images of a step's input, however it lies, as w
/// pixels of 16 images. Lanes without an image get the last one's.
void copy_lane_row(const ConvStep& step, const void* x, int64_t block, int64_t row, float* to);

}  // namespace convlab
