#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convlab/tensor/layout.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Copies nchw float32 images {n, channels, ...} to Layout::lane_pairs or split_lane_pairs, rounded to nearest even.
/// The elements are bf16 bits in a tensor of ElementType::f16. Lanes without an image are NaN.
Tensor to_lane_pairs(const Tensor& images, Layout layout);

/// Copies such an array back to nchw images of this shape. 0xffff, which no float rounds to, marks an element that was
/// never written and becomes the float with bits 0xffffffff. Throws Error(wrong_result) if a padding channel is not
/// zero.
std::vector<float> from_lane_pairs(std::span<const uint16_t> pairs, const Shape& shape, Layout layout);

}  // namespace convlab
