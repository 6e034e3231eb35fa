#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convlab/tensor/shape.h"

namespace convlab {

/// An Einsum equation for inputs of given shapes: an index for each letter and for each dimension of "...". Indices
/// that the output lacks are summed over. An operand of size 1 is broadcast along an index if others are larger.
struct Einsum {
  std::vector<std::vector<size_t>> inputs;  ///< by input: the index of each dimension; an index may occur twice
  std::vector<size_t> output;
  std::vector<int64_t> sizes;  ///< by index
};

/// Parses the equation. Throws Error(bad_input) with the reason if it is invalid or does not fit the shapes.
Einsum einsum_of(const std::string& equation, std::span<const Shape> shapes);

}  // namespace convlab
