#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convlab {

/// Sizes of a tensor's dimensions, outermost first; {} is a scalar. A dimension may be 0, never negative.
using Shape = std::vector<int64_t>;

/// The product of the sizes, 1 for a scalar. Error(bad_input) where a size is negative or the product overflows.
int64_t element_count(const Shape& shape);

/// "10000x1x28x28"; "scalar" for {}.
std::string to_text(const Shape& shape);

}  // namespace convlab
