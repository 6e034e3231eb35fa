#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "convlab/tensor/tensor.h"

namespace convlab {

// What decode_picture() is made of.

Tensor decode_jpeg(std::span<const uint8_t> bytes, std::string_view name);
Tensor decode_png(std::span<const uint8_t> bytes, std::string_view name);

/// An empty picture of this size. `fewest_bytes`: of a file that can fill it. Errors as of decode_picture().
Tensor new_picture(int64_t height, int64_t width, int64_t fewest_bytes, std::span<const uint8_t> bytes,
                   std::string_view name);

}  // namespace convlab
