#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// Parses a NumPy .npy file, versions 1 to 3 (numpy.lib.format): little-endian f2, f4, f8, u1, i1, i4, i8, C order.
/// bool becomes u1; i2 and u2 become i4; u4 and u8 become i8. `name` is used in messages. Throws Error(bad_input) that
/// says what is wrong and where in the file.
Tensor parse_npy(std::span<const uint8_t> bytes, std::string_view name);

/// The header of an .npy file.
struct NpyHeader {
  std::string code;      ///< element type code, such as "<f4"
  Shape shape;           ///< of all elements; not checked against the size of the file
  ElementType type;      ///< of the tensor that the elements become
  size_t element_bytes;  ///< of one element in the file
  size_t bytes;          ///< of the header; the elements follow it
};

/// Parses the header of a file that begins with these bytes. Throws the same errors as parse_npy().
NpyHeader parse_npy_header(std::span<const uint8_t> bytes, std::string_view name);

/// Returns some elements of such a file as a tensor of this shape. Throws Error(bad_input) if `bytes` does not have the
/// size of that shape.
Tensor npy_elements(const NpyHeader& header, std::span<const uint8_t> bytes, Shape shape, std::string_view name);

/// Returns the header of a version 1.0 .npy file.
std::vector<uint8_t> npy_header(ElementType type, const Shape& shape);

/// Returns the bytes of a version 1.0 .npy file.
std::vector<uint8_t> to_npy(const Tensor& tensor);

}  // namespace convlab
