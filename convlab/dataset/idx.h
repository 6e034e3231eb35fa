#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab {

// The idx format of MNIST and its successors, plain or gzipped: big-endian uint32 magic 0x00000803, count, rows and
// columns, then the pixels; or magic 0x00000801 and count, then the labels. (http://yann.lecun.com/exdb/mnist/)
//
// Both functions accept the bytes of a file and its name for messages. They throw Error(bad_input) with the byte offset
// for anything but one well-formed file: another magic, an empty dimension, fewer or more bytes than the header says,
// corrupt or truncated gzip data. Before allocating, they check that the file can contain as many bytes as the header
// says, at most 1 GiB.

/// Returns the pixels as uint8, count x 1 x rows x columns.
Tensor parse_idx_images(std::span<const uint8_t> bytes, std::string_view name);

/// Returns the labels. Throws Error(bad_input) if one is not below `classes`.
std::vector<uint8_t> parse_idx_labels(std::span<const uint8_t> bytes, std::string_view name, int classes);

}  // namespace convlab
