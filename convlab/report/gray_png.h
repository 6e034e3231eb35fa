#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace convlab {

/// Returns a gray image as a PNG file (ISO/IEC 15948). `pixels` has `height` rows of `width` bytes, 0 black to 255
/// white.
std::vector<uint8_t> grey_png(std::span<const uint8_t> pixels, int64_t width, int64_t height);

}  // namespace convlab
