#pragma once

#include <cstdint>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// The interpolation kernel: a triangle (bilinear), or Keys' cubic with a = -1/2 (bicubic).
enum class Filter { bilinear, bicubic };

/// Resizes a picture (uint8, height x width x channels), byte for byte as resize() of Pillow up to version 12: when
/// shrinking, the filter's width is scaled by the shrink factor (antialiasing); resamples along rows first, then along
/// columns, and rounds to bytes after each; weights are multiples of 2^-22. (Pillow 13 begins with columns if the
/// height shrinks much more than the width; then some pixels differ by 1.)
Tensor resampled(const Tensor& picture, int64_t height, int64_t width, Filter filter);

}  // namespace convlab
