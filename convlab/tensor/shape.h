#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convlab {

/// Sizes of a tensor's dimensions, outermost first; {} is a scalar. A dimension may be 0, never negative.
using Shape = std::vector<int64_t>;

/// Returns the product of the sizes, 1 for a scalar. Throws Error(bad_input) if a size is negative or the product
/// overflows.
int64_t element_count(const Shape& shape);

/// Returns the elements of one image: the product of all sizes but the first, which counts the images and must not be
/// 0.
int64_t image_element_count(const Shape& shape);

/// Returns "10000x1x28x28", or "scalar" for {}.
std::string to_text(const Shape& shape);

}  // namespace convlab
