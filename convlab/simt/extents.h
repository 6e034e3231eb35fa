#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convlab::simt::internal {

/// The dimensions of the __shared__ array that a source declares under this name, given how many elements it has:
/// {16, 17} for `__shared__ float tile[TILE][TILE + 1];` with `#define TILE 16`. Constants of the source are looked up;
/// a dimension that is not one, such as a template's argument, follows from the number of elements if it is the only
/// one. Empty if they cannot be known: then the number of elements and the declaration do not agree, or several
/// declarations of the name differ.
std::vector<int64_t> extents_in_source(std::string_view source, std::string_view name, int64_t elements);

/// "[0][4]" for element 4 of an array of 16 x 17.
std::string subscripts(const std::vector<int64_t>& extents, int64_t index);

}  // namespace convlab::simt::internal
