#pragma once

#include <span>
#include <vector>

#include "convlab/tensor/layout.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Plain float32 images {n, channels, h, w} in Layout::channel_lanes; channels beyond a number that is no multiple of 8
/// are NaN.
Tensor to_channel_lanes(const Tensor& images);

/// The reverse: elements of such an array as plain images of that shape.
std::vector<float> from_channel_lanes(std::span<const float> lanes, const Shape& shape);

}  // namespace convlab
