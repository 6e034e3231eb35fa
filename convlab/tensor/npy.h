#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// NumPy's .npy, versions 1 to 3 (numpy.lib.format): little-endian f2, f4, f8, u1, i1, i4, i8, C order. bool becomes
/// u1; i2 and u2 become i4, u4 and u8 become i8. `name` is used in messages. Error(bad_input) that says what is wrong
/// and where in the bytes.
Tensor parse_npy(std::span<const uint8_t> bytes, std::string_view name);

/// What such a file says before its elements.
struct NpyHeader {
  std::string code;      ///< of the elements' type, "<f4"
  Shape shape;           ///< of all elements; whether they are all there nobody has checked
  ElementType type;      ///< in which they are kept
  size_t element_bytes;  ///< of one, in the file
  size_t bytes;          ///< of the header: the elements begin behind it
};

/// The header of a file that begins with these bytes. Errors as parse_npy().
NpyHeader parse_npy_header(std::span<const uint8_t> bytes, std::string_view name);

/// Some elements of such a file, in a shape that is theirs. Error(bad_input) where their number is another.
Tensor npy_elements(const NpyHeader& header, std::span<const uint8_t> bytes, Shape shape, std::string_view name);

/// What a version 1.0 .npy file has before its elements.
std::vector<uint8_t> npy_header(ElementType type, const Shape& shape);

/// The bytes of a version 1.0 .npy file.
std::vector<uint8_t> to_npy(const Tensor& tensor);

}  // namespace convlab
