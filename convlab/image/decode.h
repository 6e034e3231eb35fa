#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// The maximum size of a picture.
inline constexpr int64_t kMostPictureSide = 100'000, kMostPicturePixels = int64_t{1} << 28;

/// Decodes a JPEG or PNG file, detected from its first bytes. Returns uint8, height x width x 3, RGB, as Pillow's
/// Image.open(file).convert("RGB"):
/// - gray, palettes and fewer than 8 bits are expanded to 0..255; alpha is dropped without blending;
/// - 16-bit values keep their high 8 bits (16-bit gray, too, which Pillow clips at 255 instead);
/// - CMYK and YCCK are assumed to be inverted, as Adobe writes them, and are multiplied by black;
/// - an animated PNG yields its default image, usually the first frame;
/// - EXIF orientation, gamma and color profiles are not applied.
/// Throws Error(bad_input) that begins with `name` for any other format, a truncated or corrupt file, a size above the
/// maximum, and a size too large for the number of bytes in the file; checks sizes before allocating.
Tensor decode_picture(std::span<const uint8_t> bytes, std::string_view name);

}  // namespace convlab
