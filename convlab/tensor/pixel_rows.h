#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convlab/tensor/layout.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Plain float32 images {n, channels, h, w} in a layout that has_pixel_rows(), as the nearest numbers of its type;
/// channels beyond a number that is no multiple of 8 are NaN. Types of 16 bits are elements of float16.
Tensor to_pixel_rows(const Tensor& images, Layout layout);

/// The reverse: elements of such an array as plain images of that shape.
std::vector<float> from_pixel_rows(std::span<const float> rows, const Shape& shape);
std::vector<float> from_pixel_rows(std::span<const uint16_t> rows, const Shape& shape, Layout layout);

}  // namespace convlab
