#pragma once

#include <span>
#include <vector>

#include "convlab/tensor/layout.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Copies nchw float32 images {n, ...} to Layout::image_lanes. Lanes without an image are NaN.
Tensor to_image_lanes(const Tensor& images);

/// Copies an array in Layout::image_lanes back to nchw images of this shape.
std::vector<float> from_image_lanes(std::span<const float> lanes, const Shape& shape);

}  // namespace convlab
