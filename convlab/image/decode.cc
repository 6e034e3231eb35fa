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
    {0, "GIF8"sv, "a GIF"},
    {8, "WEBP"sv, "a WebP picture"},
    {4, "ftypavi"sv, "an AVIF picture"},
    {4, "ftypheic"sv, "a HEIC picture"},
    {4, "ftypheix"sv, "a HEIC picture"},
    {4, "ftypmif1"sv, "a HEIF picture"},
    {4, "ftyp"sv, "a video"},
    {0, "BM"sv, "a BMP"},
    {0, "II*\0"sv, "a TIFF"},
    {0, "MM\0*"sv, "a TIFF"},
    {0, "\xff\x0a"sv, "a JPEG XL picture"},
    {4, "JXL "sv, "a JPEG XL picture"},
    {4, "jP  "sv, "a JPEG 2000 picture"},
    {0, "8BPS"sv, "a Photoshop file"},
    {0, "\0\0\1\0"sv, "an icon (ICO)"},
    {0, "qoif"sv, "a QOI picture"},
    {0, "P5"sv, "a PGM"},
    {0, "P6"sv, "a PPM"},
    {0, "%PDF"sv, "a PDF"},
    {0, "<"sv, "text, such as SVG or HTML"},
    {0, "\x93NUMPY"sv, "a .npy file: give it as --input"},
    {0, "PK\3\4"sv, "a zip archive, such as .npz: give arrays as --input"},
};

}  // namespace

Tensor new_picture(int64_t height, int64_t width, int64_t fewest_bytes, std::span<const uint8_t> bytes,
                   std::string_view name) {
  if (height < 1 || width < 1) throw bad_input("{}: the picture has {}x{} pixels", name, width, height);
  if (height > kMostPictureSide || width > kMostPictureSide || height * width > kMostPicturePixels) {
    throw bad_input("{}: {}x{} pixels are too many: sides may have {}, and a picture {} in all", name, width, height,
                    kMostPictureSide, kMostPicturePixels);
  }
  if (const auto size = static_cast<int64_t>(bytes.size()); size < fewest_bytes) {
    throw bad_input("{}: cut off: {} bytes cannot hold {}x{} pixels", name, size, width, height);
  }
  require_memory(checked_product({height, width, 3}), fmt::format("{}: {}x{} pixels take", name, width, height),
                 "give a smaller picture");
  return Tensor(ElementType::u8, {height, width, 3});
}

Tensor decode_picture(std::span<const uint8_t> bytes, std::string_view name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) throw bad_input("{}: the file is empty", name);
  if (text.starts_with(kJpegMagic)) return decode_jpeg(bytes, name);
  if (text.starts_with(kPngMagic)) return decode_png(bytes, name);
  for (const Magic& each : kOthers) {
    if (text.size() > each.at && text.substr(each.at).starts_with(each.bytes)) {
      throw bad_input("{}: neither JPEG nor PNG, but {}", name, each.name);
    }
  }
  throw bad_input("{}: neither JPEG nor PNG", name);
}

}  // namespace convlab
