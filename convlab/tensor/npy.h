#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// NumPy's .npy, versions 1 to 3 (numpy.lib.format): little-endian f2, f4, f8, u1, i1, i4, i8, C order. bool becomes u1;
/// i2 and u2 become i4, u4 and u8 become i8.
/// `name` is used in messages. Error(bad_input) that says what is wrong and where in the bytes.
Tensor parse_npy(std::span<const uint8_t> bytes, std::string_view name);

/// The bytes of a version 1.0 .npy file.
std::vector<uint8_t> to_npy(const Tensor& tensor);

}  // namespace convlab
