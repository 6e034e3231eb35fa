#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convlab::simt::internal {

/// Returns the dimensions of the __shared__ array that a source declares under this name, given its number of elements:
/// {16, 17} for `__shared__ float tile[TILE][TILE + 1];` with `#define TILE 16`. Constants are looked up in the source.
/// An unknown dimension, such as a template argument, follows from the number of elements if no other unknown one
/// differs from it. Returns an empty vector if the dimensions are unknown: the declaration does not match the number of
/// elements, or several declarations of the name differ.
std::vector<int64_t> extents_in_source(std::string_view source, std::string_view name, int64_t elements);

/// Returns "[0][4]" for element 4 of an array of 16 x 17.
std::string subscripts(const std::vector<int64_t>& extents, int64_t index);

}  // namespace convlab::simt::internal
