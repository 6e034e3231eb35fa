#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// The most that a picture may have.
inline constexpr int64_t kMostPictureSide = 100'000, kMostPicturePixels = int64_t{1} << 28;

/// The picture in a JPEG or PNG file, told apart by their first bytes: uint8, height x width x 3, red green blue, as
/// Pillow's Image.open(file).convert("RGB") gives it:
/// - grey, palettes, and fewer than 8 bits are spread to 0..255; alpha is dropped, and nothing shines through it;
/// - of 16 bits the high 8 are taken (of grey ones, too, which Pillow clips at 255 instead);
/// - CMYK and YCCK are taken for inverted, as Adobe writes them, and multiplied with black;
/// - of an animated PNG it is the picture that programs without animation show, mostly the first;
/// - the orientation that a camera noted (EXIF) is not applied, nor are gamma and colour profiles.
/// Error(bad_input) that begins with `name` for anything else, for a file that is cut off or damaged, and for sizes
/// beyond those above, or that so small a file cannot fill; nothing is allocated before that is known.
Tensor decode_picture(std::span<const uint8_t> bytes, std::string_view name);

}  // namespace convlab
