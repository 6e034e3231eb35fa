#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace convlab::simt {

/// An array of floats with four dimensions, as reports number its elements: "y[n0 k0 p1 q0]".
struct ArrayShape {
  std::string name;     ///< "y"
  std::string letters;  ///< "nkpq"
  std::array<int64_t, 4> extents{};

  int64_t count() const { return extents[0] * extents[1] * extents[2] * extents[3]; }
};

/// The arrays that kernels work on from now on. A program may hold them under other names: those of equal size are
/// taken for them.
void set_array_shapes(std::vector<ArrayShape> shapes);

namespace internal {

/// The number of the access's element, counted in elements of its size; a vector of 16 bytes is taken for one of
/// floats.
int64_t element_index(int64_t offset, int access_bytes);

/// An access's place in an array of `bytes`, where it begins `offset` after the array's start: "y[n0 k0 p1 q0]",
/// "device_y[16], which is y[n0 k0 p0 q16]", "x[19600]", "element 3 of dynamic shared memory".
std::string element_text(const std::string& array, size_t bytes, int64_t offset, int access_bytes);

/// "19600 elements", "9800 elements of 8 bytes".
std::string elements_text(size_t bytes, int access_bytes);

}  // namespace internal
}  // namespace convlab::simt
