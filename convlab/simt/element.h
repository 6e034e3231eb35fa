#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace convlab::simt {

/// An array of floats with four dimensions, so that reports say what an element is: "image 0, channel 0, row 3, column
/// 4".
struct ArrayShape {
  std::string name;                 ///< "x"
  std::array<std::string, 4> axes;  ///< "image", "channel", "row", "column"
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

/// The element of an array that an access begins at, `offset` bytes after the array's start: "x[19600]"; "element 3 of
/// dynamic shared memory" for an array without a name of its own.
std::string element_text(const std::string& array, int64_t offset, int access_bytes);

/// What this element is in an array of `bytes` whose shape is known: "image 0, channel 0, row 3, column 4", followed by
/// " of y" if the program has y under another name; otherwise "".
std::string meaning_text(const std::string& array, size_t bytes, int64_t offset, int access_bytes);

/// "19600 elements", "9800 elements of 8 bytes".
std::string elements_text(size_t bytes, int access_bytes);

}  // namespace internal
}  // namespace convlab::simt
