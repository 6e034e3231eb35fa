#pragma once

#include <cstdint>

#include "convlab/kernels/conv_step.h"

namespace convlab {

/// Copies the first `count` pixels of row `row` (counted through all channels) of block `block` of 16 images of a
/// step's input, nchw or `nchw16n`, to pixels 16 images wide. Lanes without an image get a copy of the last image
/// (nchw), or what the input holds there (nchw16n).
void copy_lane_row(const ConvStep& step, const void* x, int64_t block, int64_t row, int64_t count, float* to);

/// Same for uint8 nchw input, without conversion.
void copy_lane_row(const ConvStep& step, const void* x, int64_t block, int64_t row, int64_t count, uint8_t* to);

}  // namespace convlab
