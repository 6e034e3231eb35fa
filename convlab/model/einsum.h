#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convlab/tensor/shape.h"

namespace convlab {

/// An Einsum's equation for inputs of some shapes: an index for each letter and for each dimension that "..." stands
/// for. Those that the output lacks are summed over. An operand whose size is 1 where others have more is broadcast.
struct Einsum {
  std::vector<std::vector<size_t>> inputs;  ///< for each input the index of each dimension; one may occur twice
  std::vector<size_t> output;
  std::vector<int64_t> sizes;  ///< by index
};

/// Error(bad_input) with the reason where the equation is none, or does not fit the shapes.
Einsum einsum_of(const std::string& equation, std::span<const Shape> shapes);

}  // namespace convlab
