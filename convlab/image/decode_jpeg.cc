// Decodes JPEG images with libjpeg.

#include <fmt/format.h>

#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it, but does not include it
#include <string>
#include <vector>

#include <jerror.h>
#include <jpeglib.h>

#include "convlab/base/checked.h"
#include "convlab/base/limits.h"
#include "convlab/image/formats.h"

namespace convlab {
namespace {

/// More than any camera writes. Limits the time: each scan of a progressive file processes all pixels, however few
/// bytes it has.
constexpr int kMostScans = 200;

/// Warnings that do not affect pixels.
constexpr int kHarmless[] = {JWRN_EXTRANEOUS_DATA, JWRN_ADOBE_XFORM, JWRN_JFIF_MAJOR, JWRN_BOGUS_PROGRESSION};

/// Reads a JPEG from memory with libjpeg. Each function returns false on an error. libjpeg reports errors by longjmp(),
/// so nothing with a destructor may be in the frames that it skips.
class JpegReader {
 public:
  explicit JpegReader(std::span<const uint8_t> bytes) : bytes_(bytes) {
    jpeg_.err = jpeg_std_error(&handler_);
    handler_.error_exit = [](j_common_ptr jpeg) { self(jpeg).fail(); };
    handler_.emit_message = [](j_common_ptr jpeg, int level) {
      constexpr int kWarning = -1;
      if (level != kWarning) return;
      for (const int harmless : kHarmless) {
        if (jpeg->err->msg_code == harmless) return;
      }
      self(jpeg).fail();
    };
    jpeg_.client_data = this;
    progress_.progress_monitor = [](j_common_ptr jpeg) {
      auto* const decompress = reinterpret_cast<j_decompress_ptr>(jpeg);
      if (decompress->input_scan_number > kMostScans) self(jpeg).fail("too many progressive scans");
    };
  }
  ~JpegReader() {
    if (made_) jpeg_destroy_decompress(&jpeg_);
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  /// Reads the size and the color space.
  bool read_header() {
    if (setjmp(jump_) != 0) return false;
    jpeg_create_decompress(&jpeg_);
    made_ = true;
    jpeg_.progress = &progress_;
    jpeg_mem_src(&jpeg_, bytes_.data(), bytes_.size());
    jpeg_read_header(&jpeg_, TRUE);
    return true;
  }

  /// Starts decoding to this color space; then call read_row() for each row.
  bool start(J_COLOR_SPACE colors) {
    if (setjmp(jump_) != 0) return false;
    jpeg_.out_color_space = colors;
    jpeg_start_decompress(&jpeg_);
    return true;
  }

  bool read_row(uint8_t* row) {
    if (setjmp(jump_) != 0) return false;
    jpeg_read_scanlines(&jpeg_, &row, 1);
    return true;
  }

  /// Reads to the end of the file; returns false if it is truncated.
  bool finish() {
    if (setjmp(jump_) != 0) return false;
    jpeg_finish_decompress(&jpeg_);
    return true;
  }

  const jpeg_decompress_struct& jpeg() const { return jpeg_; }
  std::string_view message() const { return message_; }

 private:
  static JpegReader& self(j_common_ptr jpeg) { return *static_cast<JpegReader*>(jpeg->client_data); }

  [[noreturn]] void fail(const char* message = nullptr) {
    if (message != nullptr) {
      std::snprintf(message_, sizeof message_, "%s", message);
    } else {
      handler_.format_message(reinterpret_cast<j_common_ptr>(&jpeg_), message_);
    }
    std::longjmp(jump_, 1);
  }

  std::span<const uint8_t> bytes_;
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr handler_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf jump_{};
  char message_[JMSG_LENGTH_MAX] = "";
  bool made_ = false;
};

/// Returns the minimum size of a file with this many pixels: one bit, the shortest Huffman code, per 8x8 block of one
/// component; 0 with arithmetic coding.
int64_t fewest_jpeg_bytes(const jpeg_decompress_struct& jpeg) {
  constexpr int64_t kPixelsPerByte = 8 * 8 * 8, kMostSampling = 4;
  const int64_t pixels = int64_t{jpeg.image_height} * jpeg.image_width;
  return jpeg.arith_code ? 0 : pixels / (kPixelsPerByte * kMostSampling);
}

/// Returns a * b / 255, rounded.
uint8_t product_of_bytes(unsigned a, unsigned b) {
  const unsigned product = a * b + 128;
  return static_cast<uint8_t>((product + (product >> 8)) >> 8);
}

/// Converts a row of inverted CMYK to RGB: each color is multiplied by inverted black.
void add_cmyk_row(const std::vector<uint8_t>& row, uint8_t* rgb) {
  for (size_t i = 0; i < row.size(); i += 4, rgb += 3) {
    const unsigned light = row[i + 3];
    for (size_t c = 0; c < 3; ++c) {
      rgb[c] = static_cast<uint8_t>(light - product_of_bytes(255u - row[i + c], light));
    }
  }
}

}  // namespace

Tensor decode_jpeg(std::span<const uint8_t> bytes, std::string_view name) {
  JpegReader reader(bytes);
  const auto demand = [&](bool done) {
    if (!done) throw bad_input("{}: truncated or corrupt JPEG: {}", name, reader.message());
  };
  demand(reader.read_header());
  const jpeg_decompress_struct& jpeg = reader.jpeg();
  const int64_t height = jpeg.image_height, width = jpeg.image_width;
  const bool cmyk = jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK;
  if (jpeg.jpeg_color_space == JCS_UNKNOWN) {
    throw bad_input("{}: JPEG color space of {} components is not supported; expected gray, RGB, YCbCr, CMYK or YCCK",
                    name, jpeg.num_components);
  }
  Tensor picture = new_picture(height, width, fewest_jpeg_bytes(jpeg), bytes, name);
  if (jpeg.progressive_mode) {  // libjpeg keeps all coefficients in memory
    require_memory(checked_product({height, width, 3 + 2 * int64_t{jpeg.num_components}}),
                   fmt::format("{}: {}x{} pixels of a progressive JPEG need", name, width, height),
                   "use a smaller image");
  }
  demand(reader.start(cmyk ? JCS_CMYK : JCS_RGB));
  uint8_t* to = picture.values<uint8_t>().data();
  std::vector<uint8_t> row(cmyk ? static_cast<size_t>(4 * width) : 0);
  for (int64_t y = 0; y < height; ++y, to += 3 * width) {
    demand(reader.read_row(cmyk ? row.data() : to));
    if (cmyk) add_cmyk_row(row, to);
  }
  demand(reader.finish());
  return picture;
}

}  // namespace convlab
