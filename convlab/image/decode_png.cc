// Decodes PNG images with libpng.

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include "convlab/image/formats.h"

namespace convlab {
namespace {

constexpr png_alloc_size_t kMostChunkBytes = 8 << 20;
constexpr png_uint_32 kAnySide = 0x7fffffff;

/// Reads a PNG from memory with libpng. Each function returns false on an error. libpng reports errors by longjmp(), so
/// nothing with a destructor may be in the frames that it skips.
class PngReader {
 public:
  explicit PngReader(std::span<const uint8_t> bytes) : left_(bytes) {}
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  /// Reads the size and the color type.
  bool read_header() {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, png_const_charp) {});
    if (png_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    info_ = png_create_info_struct(png_);
    if (info_ == nullptr) png_error(png_, "not enough memory");
    png_set_read_fn(png_, this, read);
    png_set_user_limits(png_, kAnySide, kAnySide);  // new_picture() checks the size, with a better message
    png_set_chunk_malloc_max(png_, kMostChunkBytes);
    png_read_info(png_, info_);
    return true;
  }

  /// Allocates rows and sets the output format to 8-bit RGB.
  bool start() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_palette_to_rgb(png_);
    png_set_expand_gray_1_2_4_to_8(png_);
    png_set_strip_16(png_);
    png_set_strip_alpha(png_);
    png_set_gray_to_rgb(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  bool read_pixels(uint8_t* pixels) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    for (int pass = 0; pass < passes_; ++pass) {
      for (int64_t y = 0; y < height(); ++y) png_read_row(png_, pixels + y * 3 * width(), nullptr);
    }
    png_read_end(png_, nullptr);
    return true;
  }

  int64_t height() const { return png_get_image_height(png_, info_); }
  int64_t width() const { return png_get_image_width(png_, info_); }
  bool gives_rgb() const { return png_get_rowbytes(png_, info_) == static_cast<size_t>(3 * width()); }
  const char* message() const { return message_; }

 private:
  static void fail(png_structp png, png_const_charp message) {
    auto& self = *static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(self.message_, sizeof self.message_, "%s", message);
    png_longjmp(png, 1);
  }

  static void read(png_structp png, png_bytep to, size_t size) {
    auto& left = static_cast<PngReader*>(png_get_io_ptr(png))->left_;
    if (size > left.size()) png_error(png, "unexpected end of file");
    std::memcpy(to, left.data(), size);
    left = left.subspan(size);
  }

  std::span<const uint8_t> left_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
  char message_[200] = "not enough memory";
};

}  // namespace

Tensor decode_png(std::span<const uint8_t> bytes, std::string_view name) {
  PngReader reader(bytes);
  const auto demand = [&](bool done) {
    if (!done) throw bad_input("{}: truncated or corrupt PNG: {}", name, reader.message());
  };
  demand(reader.read_header());
  constexpr int64_t kMostInflation = 1032, kPixelsPerByte = 8;  // zlib's maximum compression factor; one bit per pixel
  const int64_t height = reader.height(), width = reader.width();
  Tensor picture = new_picture(height, width, height * width / (kPixelsPerByte * kMostInflation), bytes, name);
  demand(reader.start());
  if (!reader.gives_rgb()) throw bad_input("{}: libpng cannot convert this PNG to RGB", name);
  demand(reader.read_pixels(picture.values<uint8_t>().data()));
  return picture;
}

}  // namespace convlab
