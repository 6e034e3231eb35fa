// Detects image formats and decodes JPEG and PNG.

#include "convlab/image/decode.h"

#include <fmt/format.h>

#include "convlab/base/checked.h"
#include "convlab/base/limits.h"
#include "convlab/image/formats.h"

namespace convlab {
namespace {

using namespace std::string_view_literals;

struct Magic {
  size_t at;
  std::string_view bytes, name;
};
constexpr std::string_view kJpegMagic = "\xff\xd8\xff"sv, kPngMagic = "\x89PNG\r\n\x1a\n"sv;
constexpr Magic kOthers[] = {
    {0, "GIF8"sv, "a GIF image"},
    {8, "WEBP"sv, "a WebP image"},
    {4, "ftypavi"sv, "an AVIF image"},
    {4, "ftypheic"sv, "a HEIC image"},
    {4, "ftypheix"sv, "a HEIC image"},
    {4, "ftypmif1"sv, "a HEIF image"},
    {4, "ftyp"sv, "a video"},
    {0, "BM"sv, "a BMP image"},
    {0, "II*\0"sv, "a TIFF image"},
    {0, "MM\0*"sv, "a TIFF image"},
    {0, "\xff\x0a"sv, "a JPEG XL image"},
    {4, "JXL "sv, "a JPEG XL image"},
    {4, "jP  "sv, "a JPEG 2000 image"},
    {0, "8BPS"sv, "a Photoshop file"},
    {0, "\0\0\1\0"sv, "an icon (ICO)"},
    {0, "qoif"sv, "a QOI image"},
    {0, "P5"sv, "a PGM image"},
    {0, "P6"sv, "a PPM image"},
    {0, "%PDF"sv, "a PDF file"},
    {0, "<"sv, "text such as SVG or HTML"},
    {0, "\x93NUMPY"sv, "a .npy file; pass it with --input"},
    {0, "PK\3\4"sv, "a zip archive such as .npz; pass arrays with --input"},
};

}  // namespace

Tensor new_picture(int64_t height, int64_t width, int64_t fewest_bytes, std::span<const uint8_t> bytes,
                   std::string_view name) {
  if (height < 1 || width < 1)
    throw bad_input("{}: image size must be at least 1x1 pixels, got {}x{}", name, width, height);
  if (height > kMostPictureSide || width > kMostPictureSide || height * width > kMostPicturePixels) {
    throw bad_input("{}: image of {}x{} pixels is too large; at most {} per side and {} in total are supported", name,
                    width, height, kMostPictureSide, kMostPicturePixels);
  }
  if (const auto size = static_cast<int64_t>(bytes.size()); size < fewest_bytes) {
    throw bad_input("{}: truncated: {} bytes cannot hold {}x{} pixels", name, size, width, height);
  }
  require_memory(checked_product({height, width, 3}), fmt::format("{}: {}x{} pixels need", name, width, height),
                 "use a smaller image");
  return Tensor(ElementType::u8, {height, width, 3});
}

Tensor decode_picture(std::span<const uint8_t> bytes, std::string_view name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) throw bad_input("{}: the file is empty", name);
  if (text.starts_with(kJpegMagic)) return decode_jpeg(bytes, name);
  if (text.starts_with(kPngMagic)) return decode_png(bytes, name);
  for (const Magic& each : kOthers) {
    if (text.size() > each.at && text.substr(each.at).starts_with(each.bytes)) {
      throw bad_input("{}: expected a JPEG or PNG image, got {}", name, each.name);
    }
  }
  throw bad_input("{}: not a JPEG or PNG image", name);
}

}  // namespace convlab
