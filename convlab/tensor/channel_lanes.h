#pragma once

#include <span>
#include <vector>

#include "convlab/tensor/layout.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Copies nchw float32 images {n, channels, h, w} to Layout::channel_lanes. Padding channels, up to the next multiple
/// of 8, are NaN.
Tensor to_channel_lanes(const Tensor& images);

/// Copies an array in Layout::channel_lanes back to nchw images of this shape.
std::vector<float> from_channel_lanes(std::span<const float> lanes, const Shape& shape);

}  // namespace convlab
