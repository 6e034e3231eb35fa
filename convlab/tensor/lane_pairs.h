#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convlab/tensor/layout.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Plain float32 images {n, channels, ...} in Layout::lane_pairs or split_lane_pairs, rounded to nearest even: elements
/// are bits of bfloat16. Lanes without an image are NaN.
Tensor to_lane_pairs(const Tensor& images, Layout layout);

/// The reverse: elements of such an array as plain images of that shape; 0xffff, which nothing rounds to, as the float
/// of all ones. Error(wrong_result) where a channel that does not exist is not zero.
std::vector<float> from_lane_pairs(std::span<const uint16_t> pairs, const Shape& shape, Layout layout);

}  // namespace convlab
