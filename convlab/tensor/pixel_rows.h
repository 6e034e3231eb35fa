#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convlab/tensor/layout.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Copies nchw float32 images {n, channels, h, w} to an nhwc layout (see has_pixel_rows()), rounded to its element
/// type. Padding channels, up to the next multiple of 8, are NaN. fp16 and bf16 bits are both stored as
/// ElementType::f16.
Tensor to_pixel_rows(const Tensor& images, Layout layout);

/// Copies such an array back to nchw images of this shape.
std::vector<float> from_pixel_rows(std::span<const float> rows, const Shape& shape);
std::vector<float> from_pixel_rows(std::span<const uint16_t> rows, const Shape& shape, Layout layout);

}  // namespace convlab
