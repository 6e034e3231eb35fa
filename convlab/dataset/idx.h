#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab {

// The idx format of MNIST and its successors, as it is or gzipped: big-endian uint32 magic 0x00000803, count, rows and
// columns, then the pixels; or 0x00000801 and count, then the labels. (http://yann.lecun.com/exdb/mnist/)
//
// Both functions take the bytes of a file and its name for messages, and throw Error(bad_input), which says what is
// wrong at which byte, for anything but one well-formed file: another magic, an empty dimension, fewer or more bytes
// than the header says, damaged or truncated gzip data. What they allocate is bounded by the header, and the header by
// what the given bytes can hold, at most 1 GiB.

/// Pixels as uint8, count x 1 x rows x columns.
Tensor parse_idx_images(std::span<const uint8_t> bytes, std::string_view name);

/// Labels, each below `classes`.
std::vector<uint8_t> parse_idx_labels(std::span<const uint8_t> bytes, std::string_view name, int classes);

}  // namespace convlab
