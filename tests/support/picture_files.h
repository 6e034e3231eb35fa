#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <jpeglib.h>
#include <png.h>

namespace convlab {

using Bytes = std::vector<uint8_t>;

/// A PNG to write. `samples` uses PNG's layout: each row is padded to whole bytes, 16-bit samples are big-endian.
struct PngPicture {
  int width = 1, height = 1, bits = 8, colors = PNG_COLOR_TYPE_RGB;
  Bytes samples;
  bool interlaced = false;
  std::vector<png_color> palette;
  Bytes transparency;  ///< alpha values of the palette's entries
};

inline Bytes png_bytes(const PngPicture& picture) {
  Bytes bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png)) != 0) std::abort();
  png_set_write_fn(
      png, &bytes,
      [](png_structp to, png_bytep from, size_t size) {
        auto& all = *static_cast<Bytes*>(png_get_io_ptr(to));
        all.insert(all.end(), from, from + size);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height),
               picture.bits, picture.colors, picture.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!picture.palette.empty()) {
    png_set_PLTE(png, info, picture.palette.data(), static_cast<int>(picture.palette.size()));
  }
  if (!picture.transparency.empty()) {
    png_set_tRNS(png, info, picture.transparency.data(), static_cast<int>(picture.transparency.size()), nullptr);
  }
  png_write_info(png, info);
  std::vector<png_bytep> rows;
  for (int y = 0; y < picture.height; ++y) {
    rows.push_back(const_cast<png_bytep>(picture.samples.data()) +
                   picture.samples.size() / static_cast<size_t>(picture.height) * static_cast<size_t>(y));
  }
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

/// A JPEG to write. For CMYK and YCCK, libjpeg writes Adobe's marker.
struct JpegPicture {
  int width = 1, height = 1, components = 3;
  J_COLOR_SPACE colors = JCS_RGB, inside = JCS_YCbCr;
  Bytes samples;
  bool progressive = false;
};

inline Bytes jpeg_bytes(const JpegPicture& picture) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_width = static_cast<JDIMENSION>(picture.width);
  jpeg.image_height = static_cast<JDIMENSION>(picture.height);
  jpeg.input_components = picture.components;
  jpeg.in_color_space = picture.colors;
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, picture.inside);
  constexpr int kBest = 100;
  jpeg_set_quality(&jpeg, kBest, TRUE);
  if (picture.progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  for (int y = 0; y < picture.height; ++y) {
    JSAMPROW row =
        const_cast<JSAMPROW>(picture.samples.data()) + static_cast<ptrdiff_t>(y) * picture.width * picture.components;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  Bytes bytes(memory, memory + size);
  jpeg_destroy_compress(&jpeg);
  std::free(memory);
  return bytes;
}

/// Returns `pixels` pixels of one color.
inline Bytes filled(int pixels, const Bytes& color) {
  Bytes samples;
  for (int i = 0; i < pixels; ++i) samples.insert(samples.end(), color.begin(), color.end());
  return samples;
}

}  // namespace convlab
