// Writes gray images as PNG.

#include "convlab/report/gray_png.h"

#include <zlib.h>

#include <string_view>

#include "convlab/base/error.h"

namespace convlab {
namespace {

void append_number(std::vector<uint8_t>& bytes, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<uint8_t>(number >> shift));
}

void append_chunk(std::vector<uint8_t>& png, std::string_view type, std::span<const uint8_t> data) {
  append_number(png, static_cast<uint32_t>(data.size()));
  const size_t checked = png.size();
  png.insert(png.end(), type.begin(), type.end());
  png.insert(png.end(), data.begin(), data.end());
  append_number(png, static_cast<uint32_t>(crc32(0, png.data() + checked, static_cast<uInt>(png.size() - checked))));
}

}  // namespace

std::vector<uint8_t> grey_png(std::span<const uint8_t> pixels, int64_t width, int64_t height) {
  if (width < 1 || height < 1 || static_cast<int64_t>(pixels.size()) != width * height) {
    throw bad_input("{} pixels do not match an image of {}x{}", pixels.size(), width, height);
  }
  constexpr uint8_t kBits = 8, kGrey = 0, kDeflate = 0, kFilters = 0, kNotInterlaced = 0, kNoFilter = 0;
  std::vector<uint8_t> header;
  append_number(header, static_cast<uint32_t>(width));
  append_number(header, static_cast<uint32_t>(height));
  header.insert(header.end(), {kBits, kGrey, kDeflate, kFilters, kNotInterlaced});

  std::vector<uint8_t> rows;  // each row begins with its filter type
  for (int64_t row = 0; row < height; ++row) {
    rows.push_back(kNoFilter);
    const auto begin = pixels.begin() + row * width;
    rows.insert(rows.end(), begin, begin + width);
  }
  uLongf size = compressBound(rows.size());
  std::vector<uint8_t> packed(size);
  if (compress2(packed.data(), &size, rows.data(), rows.size(), Z_BEST_COMPRESSION) != Z_OK) {
    throw unavailable("out of memory while compressing an image of {}x{}", width, height);
  }
  packed.resize(size);

  std::vector<uint8_t> png = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  append_chunk(png, "IHDR", header);
  append_chunk(png, "IDAT", packed);
  append_chunk(png, "IEND", {});
  return png;
}

}  // namespace convlab
