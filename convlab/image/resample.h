#pragma once

#include <cstdint>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// How a pixel weighs its neighbours: by a triangle (bilinear), or by Keys' cubic with a = -1/2.
enum class Filter { bilinear, bicubic };

/// A picture (uint8, height x width x channels) of another size, byte for byte what resize() of Pillow up to 12 gives:
/// the filter is as wide as an output pixel where the picture shrinks (antialias); first along rows, then along
/// columns, each rounded to bytes; weights are whole numbers of 2^-22. (Pillow 13 begins with columns where the height
/// shrinks much more than the width; then some pixels differ by a level.)
Tensor resampled(const Tensor& picture, int64_t height, int64_t width, Filter filter);

}  // namespace convlab
