#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convlab::simt {

/// The shape of a four-dimensional array of floats, so that reports can say which element it is: "image 0, channel 0,
/// row 3, column 4".
struct ArrayShape {
  std::string name;                 ///< "x"
  std::array<std::string, 4> axes;  ///< "image", "channel", "row", "column"
  std::array<int64_t, 4> extents{};

  int64_t count() const { return extents[0] * extents[1] * extents[2] * extents[3]; }
};

/// Sets the arrays that kernels work on from now on. A program may use other names for them: arrays of equal size are
/// assumed to be the same.
void set_array_shapes(std::vector<ArrayShape> shapes);

namespace internal {

/// Returns the index of the accessed element, in units of its size. A vector of 16 bytes is assumed to hold floats.
int64_t element_index(int64_t offset, int access_bytes);

/// Returns the element of an array that an access begins at, `offset` bytes after the array's start: "x[19600]";
/// "element 3 of dynamic shared memory" for an array without a name.
std::string element_text(const std::string& array, int64_t offset, int access_bytes);

/// Returns what this element is in an array of `bytes` whose shape is known: "image 0, channel 0, row 3, column 4",
/// followed by " of y" if the program has y under another name. Returns "" if the shape is unknown.
std::string meaning_text(const std::string& array, size_t bytes, int64_t offset, int access_bytes);

/// Returns what to do about an array of `bytes` that is too small: "possibly sizeof(float) is missing: x has 19600
/// floats, 78400 bytes" if it has as many bytes as an array of known shape has elements; "possibly the size is wrong: x
/// has 19600 floats, 78400 bytes" if its name, such as "device_input", suggests that it is a larger array of known
/// shape; otherwise "".
std::string size_remedy(std::string_view array, size_t bytes);

/// Returns the number of elements of the array of this name; 0 if its shape is unknown.
int64_t known_count(std::string_view name);

/// Returns "19600 elements" or "9800 elements of 8 bytes".
std::string elements_text(size_t bytes, int access_bytes);

}  // namespace internal
}  // namespace convlab::simt
