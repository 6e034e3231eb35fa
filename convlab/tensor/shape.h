#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convlab {

/// Sizes of a tensor's dimensions, outermost first; {} is a scalar. A dimension may be 0, never negative.
using Shape = std::vector<int64_t>;

/// The product of the sizes, 1 for a scalar. Error(bad_input) where a size is negative or the product overflows.
int64_t element_count(const Shape& shape);

/// Elements of one image: the product of the sizes but the first, which is the number of images and not 0.
int64_t image_element_count(const Shape& shape);

/// "10000x1x28x28"; "scalar" for {}.
std::string to_text(const Shape& shape);

}  // namespace convlab
