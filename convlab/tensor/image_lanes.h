#pragma once

#include <span>
#include <vector>

#include "convlab/tensor/layout.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Plain float32 images {n, ...} in Layout::image_lanes. Lanes without an image are NaN.
Tensor to_image_lanes(const Tensor& images);

/// The reverse: elements of such an array as plain images of that shape.
std::vector<float> from_image_lanes(std::span<const float> lanes, const Shape& shape);

}  // namespace convlab
