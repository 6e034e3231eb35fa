// Tests decoding of PNG and JPEG images: color formats, damaged files and size limits.

#include "convlab/image/decode.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "tests/support/picture_files.h"
#include "tests/support/tensor_values.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<uint8_t> pixels(const Bytes& bytes) { return values_of<uint8_t>(decode_picture(bytes, "cat")); }

std::string error(const Bytes& bytes) {
  return bad_input_message([&] { decode_picture(bytes, "cat"); });
}

TEST(DecodePng, Rgb) {
  const Bytes bytes = png_bytes({.width = 2, .height = 1, .samples = {1, 2, 3, 250, 251, 252}});
  const Tensor picture = decode_picture(bytes, "cat");
  EXPECT_EQ(picture.shape(), (Shape{1, 2, 3}));
  EXPECT_THAT(values_of<uint8_t>(picture), ElementsAre(1, 2, 3, 250, 251, 252));
}

TEST(DecodePng, GreyOfAnyDepth) {
  const auto gray = [](int bits, const Bytes& samples, int width) {
    return pixels(png_bytes({.width = width, .bits = bits, .colors = PNG_COLOR_TYPE_GRAY, .samples = samples}));
  };
  EXPECT_THAT(gray(1, {0b01000000}, 2), ElementsAre(0, 0, 0, 255, 255, 255));
  EXPECT_THAT(gray(2, {0b01100000}, 2), ElementsAre(85, 85, 85, 170, 170, 170));
  EXPECT_THAT(gray(4, {0x1f}, 2), ElementsAre(17, 17, 17, 255, 255, 255));
  EXPECT_THAT(gray(8, {7}, 1), ElementsAre(7, 7, 7));
  EXPECT_THAT(gray(16, {0x12, 0xff}, 1), ElementsAre(0x12, 0x12, 0x12)) << "the high byte";
}

TEST(DecodePng, SixteenBitsOfRgbGiveTheirHighBytes) {
  EXPECT_THAT(pixels(png_bytes({.bits = 16, .samples = {1, 0xff, 2, 0x80, 0xfe, 0}})), ElementsAre(1, 2, 0xfe));
}

TEST(DecodePng, AlphaIsDropped) {
  EXPECT_THAT(pixels(png_bytes({.colors = PNG_COLOR_TYPE_RGB_ALPHA, .samples = {10, 20, 30, 0}})),
              ElementsAre(10, 20, 30));
  EXPECT_THAT(pixels(png_bytes({.colors = PNG_COLOR_TYPE_GRAY_ALPHA, .samples = {9, 128}})), ElementsAre(9, 9, 9));
}

TEST(DecodePng, PalettesWithAndWithoutTransparency) {
  PngPicture picture{.width = 3, .bits = 2, .colors = PNG_COLOR_TYPE_PALETTE, .samples = {0b00011000}};
  picture.palette = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  EXPECT_THAT(pixels(png_bytes(picture)), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  picture.transparency = {0, 128};
  EXPECT_THAT(pixels(png_bytes(picture)), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(DecodePng, InterlacedIsTheSame) {
  PngPicture picture{.width = 13, .height = 11};
  for (int i = 0; i < 13 * 11 * 3; ++i) picture.samples.push_back(static_cast<uint8_t>(i * 37));
  const Bytes plain = png_bytes(picture);
  picture.interlaced = true;
  EXPECT_NE(png_bytes(picture), plain);
  EXPECT_EQ(pixels(png_bytes(picture)), picture.samples);
}

/// Returns a PNG chunk with its length and checksum.
Bytes chunk(std::string type, const Bytes& data) {
  Bytes bytes;
  const auto put = [&](uint32_t value) {
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<uint8_t>(value >> shift));
  };
  put(static_cast<uint32_t>(data.size()));
  Bytes counted(type.begin(), type.end());
  counted.insert(counted.end(), data.begin(), data.end());
  bytes.insert(bytes.end(), counted.begin(), counted.end());
  put(static_cast<uint32_t>(crc32_z(0, counted.data(), counted.size())));
  return bytes;
}

constexpr size_t kHeaderEnd = 8 + 25;  ///< offset after a PNG's magic number and IHDR

TEST(DecodePng, OfAnAnimationThePictureItself) {
  Bytes bytes = png_bytes({.samples = {5, 6, 7}});
  const Bytes control = chunk("acTL", {0, 0, 0, 2, 0, 0, 0, 0});
  bytes.insert(bytes.begin() + kHeaderEnd, control.begin(), control.end());
  EXPECT_THAT(pixels(bytes), ElementsAre(5, 6, 7));
}

/// Returns a PNG whose header declares this size.
Bytes claiming(uint32_t width, uint32_t height) {
  Bytes bytes = png_bytes({.samples = {5, 6, 7}});
  Bytes header;
  for (const uint32_t side : {width, height}) {
    for (const int shift : {24, 16, 8, 0}) header.push_back(static_cast<uint8_t>(side >> shift));
  }
  header.insert(header.end(), {8, PNG_COLOR_TYPE_RGB, 0, 0, 0});
  const Bytes changed = chunk("IHDR", header);
  std::ranges::copy(changed, bytes.begin() + 8);
  return bytes;
}

TEST(DecodePng, SizesAreCheckedBeforeAnythingIsAllocated) {
  EXPECT_THAT(error(claiming(100'001, 1)), AllOf(StartsWith("cat: "), HasSubstr("100001x1"), HasSubstr("too large")));
  EXPECT_THAT(error(claiming(1, 2'000'000'000)), HasSubstr("1x2000000000"));
  EXPECT_THAT(error(claiming(16'385, 16'384)), HasSubstr("268435456 in total"));
  EXPECT_THAT(error(claiming(16'000, 16'000)), HasSubstr("truncated")) << "so few bytes hold no such picture";
  EXPECT_THAT(error(claiming(100'000, 1)), HasSubstr("truncated or corrupt"));
  EXPECT_THAT(error(claiming(0, 1)), HasSubstr("corrupt"));
}

TEST(DecodePng, CutOffAnywhereAndDamaged) {
  PngPicture picture{.width = 13, .height = 11};
  for (int i = 0; i < 13 * 11 * 3; ++i) picture.samples.push_back(static_cast<uint8_t>(i * i));
  const Bytes whole = png_bytes(picture);
  for (size_t size = 8; size < whole.size(); ++size) {
    EXPECT_THAT(error(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size))),
                HasSubstr("truncated or corrupt PNG: "));
  }
  Bytes damaged = whole;
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_THAT(error(damaged), HasSubstr("corrupt"));
}

TEST(DecodeJpeg, ColorsAndGrey) {
  for (const bool progressive : {false, true}) {
    const Bytes color =
        jpeg_bytes({.width = 16, .height = 24, .samples = filled(16 * 24, {200, 30, 90}), .progressive = progressive});
    const Tensor picture = decode_picture(color, "cat");
    EXPECT_EQ(picture.shape(), (Shape{24, 16, 3}));
    const auto values = values_of<uint8_t>(picture);
    for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], (std::vector{200, 30, 90})[i % 3], 2);
  }
  const Bytes gray = jpeg_bytes({.width = 8,
                                 .height = 8,
                                 .components = 1,
                                 .colors = JCS_GRAYSCALE,
                                 .inside = JCS_GRAYSCALE,
                                 .samples = filled(64, {77})});
  EXPECT_THAT(pixels(gray), Each(77));
}

TEST(DecodeJpeg, CmykIsInvertedAndMultipliedWithBlack) {
  // Stored inverted: cyan 255 (none), magenta 128, yellow 0 (full); black leaves 200 of 255.
  for (const J_COLOR_SPACE inside : {JCS_CMYK, JCS_YCCK}) {
    const auto values = pixels(jpeg_bytes({.width = 8,
                                           .height = 8,
                                           .components = 4,
                                           .colors = JCS_CMYK,
                                           .inside = inside,
                                           .samples = filled(64, {255, 128, 0, 200})}));
    EXPECT_NEAR(values[0], 200, 2);
    EXPECT_NEAR(values[1], 100, 2);
    EXPECT_NEAR(values[2], 0, 2);
  }
}

/// Noise, so that truncation hits image data.
JpegPicture noise() {
  JpegPicture picture{.width = 64, .height = 64};
  uint32_t state = 1;
  for (int i = 0; i < 64 * 64 * 3; ++i) {
    state = state * 1664525 + 1013904223;
    picture.samples.push_back(static_cast<uint8_t>(state >> 24));
  }
  return picture;
}

TEST(DecodeJpeg, CutOffAndDamaged) {
  for (const bool progressive : {false, true}) {
    JpegPicture picture = noise();
    picture.progressive = progressive;
    const Bytes whole = jpeg_bytes(picture);
    EXPECT_EQ(pixels(whole).size(), picture.samples.size());
    for (size_t size = 3; size + 2 < whole.size(); size += 97) {
      EXPECT_THAT(error(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size))),
                  HasSubstr("cat: truncated or corrupt JPEG: "));
    }
  }
}

TEST(DecodeJpeg, SizesAreCheckedBeforeAnythingIsAllocated) {
  Bytes bytes = jpeg_bytes(noise());
  const Bytes start{0xff, 0xc0};  // the frame header: length, bits, height, width
  const auto frame = std::ranges::search(bytes, start).begin();
  const auto claim = [&](int height, int width) {
    for (const auto& [at, value] : {std::pair(5, height), std::pair(7, width)}) {
      frame[at] = static_cast<uint8_t>(value >> 8);
      frame[at + 1] = static_cast<uint8_t>(value);
    }
    return error(bytes);
  };
  EXPECT_THAT(claim(60'000, 60'000), HasSubstr("too large"));
  EXPECT_THAT(claim(16'000, 16'000), HasSubstr("bytes cannot hold 16000x16000"));
}

TEST(Decode, WhatIsNeitherIsNamed) {
  const auto of = [](std::string_view text) { return error(Bytes(text.begin(), text.end())); };
  using namespace std::string_view_literals;
  EXPECT_THAT(of(""), HasSubstr("empty"));
  EXPECT_THAT(of("hello"), HasSubstr("cat: not a JPEG or PNG image"));
  EXPECT_THAT(of("GIF89a....."), HasSubstr("a GIF"));
  EXPECT_THAT(of("RIFF....WEBPVP8 "), HasSubstr("a WebP"));
  EXPECT_THAT(of("BM......"), HasSubstr("a BMP"));
  EXPECT_THAT(of("....ftypheic"), HasSubstr("a HEIC"));
  EXPECT_THAT(of("....ftypavif"), HasSubstr("an AVIF"));
  EXPECT_THAT(of("II*\0...."sv), HasSubstr("a TIFF"));
  EXPECT_THAT(of("<svg>"), HasSubstr("SVG"));
  EXPECT_THAT(of("\x93NUMPY"), HasSubstr("--input"));
  EXPECT_THAT(of("\x89PNG\r\n\x1a\n"), HasSubstr("truncated or corrupt PNG"));
  EXPECT_THAT(of("\xff\xd8\xff"), HasSubstr("truncated or corrupt JPEG"));
}

}  // namespace
}  // namespace convlab
