#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "convlab/tensor/tensor.h"

namespace convlab {

// The parts of decode_picture().

Tensor decode_jpeg(std::span<const uint8_t> bytes, std::string_view name);
Tensor decode_png(std::span<const uint8_t> bytes, std::string_view name);

/// Returns an uninitialized picture of this size. `fewest_bytes`: the minimum size of a file with this many pixels.
/// Errors as in decode_picture().
Tensor new_picture(int64_t height, int64_t width, int64_t fewest_bytes, std::span<const uint8_t> bytes,
                   std::string_view name);

}  // namespace convlab
