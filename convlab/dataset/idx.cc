// Parses images and labels in the idx format of MNIST.

#include "convlab/dataset/idx.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "convlab/base/checked.h"

namespace convlab {
namespace {

constexpr uint32_t kImagesMagic = 0x00000803, kLabelsMagic = 0x00000801;
constexpr int64_t kMostBytes = int64_t{1} << 30;

/// The maximum compression factor of deflate: 258 bytes from two bits (zlib's documentation, "Maximum Compression
/// Factor").
constexpr int64_t kMostInflation = 1032;

/// Reads the content of a file in order, decompressing it if it is gzipped. Callers pass the memory for each part, so
/// nothing is allocated here.
class ContentReader {
 public:
  ContentReader(std::span<const uint8_t> bytes, std::string_view name) : bytes_(bytes), name_(name) {
    if (bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) open_gzip();
  }

  /// Returns an upper bound of the bytes that remain in the content.
  int64_t most_left() const {
    const auto size = static_cast<int64_t>(bytes_.size());
    return zlib_ ? checked_mul(size, kMostInflation) : size - offset_;
  }

  /// Fills `to`. Throws Error(bad_input) with `what` if the content ends before.
  void read(std::span<uint8_t> to, std::string_view what) {
    const int64_t wanted = static_cast<int64_t>(to.size());
    const int64_t got = zlib_ ? inflate_some(to) : copy_some(to);
    offset_ += got;
    if (got != wanted) {
      throw bad_input("{}: truncated: expected {} bytes for {} at byte {}, got {}", name_, wanted, what, offset_ - got,
                      got);
    }
  }

  uint32_t read_u32(std::string_view what) {
    uint8_t b[4];
    read(b, what);
    return uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | uint32_t{b[3]};
  }

  /// Throws Error(bad_input) unless the content ends here. For gzip, this also checks the CRC and the length.
  void expect_end() {
    uint8_t more;
    if ((zlib_ ? inflate_some({&more, 1}) : copy_some({&more, 1})) != 0) {
      throw bad_input("{}: unexpected data after byte {}, the end according to the header", name_, offset_);
    }
    if (zlib_ && position() != bytes_.size()) {
      throw bad_input("{}: {} unexpected bytes after the gzip data, which ends at byte {}", name_,
                      bytes_.size() - position(), position());
    }
  }

 private:
  struct End {
    void operator()(z_stream* stream) const {
      inflateEnd(stream);
      delete stream;
    }
  };

  void open_gzip() {
    zlib_.reset(new z_stream{});
    constexpr int kGzipFormat = 16;
    if (inflateInit2(zlib_.get(), kGzipFormat + MAX_WBITS) != Z_OK) {
      throw bad_input("{}: not enough memory to decompress the file", name_);
    }
    zlib_->next_in = const_cast<Bytef*>(bytes_.data());  // zlib does not write there
  }

  /// The current offset in the gzipped file.
  size_t position() const { return static_cast<size_t>(zlib_->next_in - bytes_.data()); }

  int64_t copy_some(std::span<uint8_t> to) const {
    const size_t count = std::min(to.size(), bytes_.size() - static_cast<size_t>(offset_));
    std::copy_n(bytes_.data() + offset_, count, to.data());
    return static_cast<int64_t>(count);
  }

  /// Decompresses until `to` is full or the gzip data ends. Returns the number of bytes written.
  int64_t inflate_some(std::span<uint8_t> to) {
    size_t done = 0;
    while (done < to.size() && !ended_) {
      // zlib's counters are unsigned int.
      constexpr size_t kMostAtOnce = std::numeric_limits<uInt>::max();
      zlib_->avail_in = static_cast<uInt>(std::min(bytes_.size() - position(), kMostAtOnce));
      zlib_->avail_out = static_cast<uInt>(std::min(to.size() - done, kMostAtOnce));
      zlib_->next_out = to.data() + done;
      const int status = inflate(zlib_.get(), Z_NO_FLUSH);
      done = static_cast<size_t>(zlib_->next_out - to.data());
      if (status == Z_STREAM_END) {
        ended_ = true;
      } else if (status == Z_BUF_ERROR) {
        throw bad_input("{}: truncated gzip data at byte {}", name_, position());
      } else if (status != Z_OK) {
        throw bad_input("{}: corrupt gzip data at byte {}: {}", name_, position(),
                        zlib_->msg != nullptr ? zlib_->msg : zError(status));
      }
    }
    return static_cast<int64_t>(done);
  }

  std::span<const uint8_t> bytes_;
  std::string_view name_;
  int64_t offset_ = 0;  ///< in the content
  std::unique_ptr<z_stream, End> zlib_;
  bool ended_ = false;
};

void read_magic(ContentReader& reader, uint32_t wanted, std::string_view name) {
  const uint32_t magic = reader.read_u32("the magic number");
  if (magic == wanted) return;
  const auto kind = [](uint32_t value) {
    return value == kImagesMagic ? " (idx images)" : value == kLabelsMagic ? " (idx labels)" : "";
  };
  throw bad_input("{}: expected magic number {:#010x}{}, got {:#010x}{}", name, wanted, kind(wanted), magic,
                  kind(magic));
}

int64_t read_size(ContentReader& reader, std::string_view what, std::string_view name) {
  const uint32_t size = reader.read_u32(what);
  if (size == 0 || size > INT32_MAX)
    throw bad_input("{}: {} in the header must be between 1 and {}, got {}", name, what, INT32_MAX, size);
  return size;
}

/// Checks the header's size against the size of the file, before memory is allocated.
void check_size(const ContentReader& reader, int64_t bytes, std::string_view name) {
  if (bytes > reader.most_left()) {
    throw bad_input("{}: the header declares {} bytes, more than the file can hold", name, bytes);
  }
  if (bytes > kMostBytes)
    throw bad_input("{}: the header declares {} bytes; at most {} are supported", name, bytes, kMostBytes);
}

}  // namespace

Tensor parse_idx_images(std::span<const uint8_t> bytes, std::string_view name) {
  ContentReader reader(bytes, name);
  read_magic(reader, kImagesMagic, name);
  const int64_t count = read_size(reader, "the number of images", name);
  const int64_t rows = read_size(reader, "the number of rows", name);
  const int64_t columns = read_size(reader, "the number of columns", name);
  int64_t total = 0;
  // The product has up to 93 bits; one that does not fit in 63 bits cannot be in the file.
  if (__builtin_mul_overflow(count * rows, columns, &total)) total = std::numeric_limits<int64_t>::max();
  check_size(reader, total, name);
  Tensor images(ElementType::u8, {count, 1, rows, columns});
  reader.read(images.values<uint8_t>(), "the pixels");
  reader.expect_end();
  return images;
}

std::vector<uint8_t> parse_idx_labels(std::span<const uint8_t> bytes, std::string_view name, int classes) {
  ContentReader reader(bytes, name);
  read_magic(reader, kLabelsMagic, name);
  const int64_t count = read_size(reader, "the number of labels", name);
  check_size(reader, count, name);
  std::vector<uint8_t> labels(static_cast<size_t>(count));
  reader.read(labels, "the labels");
  reader.expect_end();
  const auto wrong = std::find_if(labels.begin(), labels.end(), [&](uint8_t label) { return label >= classes; });
  if (wrong != labels.end()) {
    constexpr int64_t kHeaderBytes = 8;
    throw bad_input("{}: the label at byte {} must be between 0 and {}, got {}", name,
                    kHeaderBytes + (wrong - labels.begin()), classes - 1, *wrong);
  }
  return labels;
}

}  // namespace convlab
