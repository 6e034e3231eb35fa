// Streams images from .npy and idx files.

#include "convlab/dataset/array_file.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"

namespace convlab {
namespace {

constexpr size_t kMostHeaderBytes = size_t{1} << 20;

/// An idx file begins with two zero bytes, the element type and the number of dimensions, followed by the sizes as
/// big-endian uint32.
constexpr uint8_t kIdxBytes = 0x08;
constexpr size_t kIdxBegin = 4, kIdxSizeBytes = 4;

NpyHeader parse_idx_header(std::span<const uint8_t> bytes, const std::string& name) {
  if (bytes.size() < kIdxBegin || bytes[0] != 0 || bytes[1] != 0) throw bad_input("{}: not an .npy or idx file", name);
  const size_t sizes = bytes[3];
  if (bytes[2] != kIdxBytes || sizes < 3 || sizes > 4) {
    throw bad_input(
        "{}: expected idx images of uint8 (type 0x08) in 3 or 4 dimensions, got type {:#04x} in {} dimensions", name,
        bytes[2], sizes);
  }
  NpyHeader header{
      .code = "|u1", .type = ElementType::u8, .element_bytes = 1, .bytes = kIdxBegin + kIdxSizeBytes * sizes};
  if (bytes.size() < header.bytes) throw bad_input("{}: truncated idx header", name);
  for (size_t i = 0; i < sizes; ++i) {
    const uint8_t* const at = bytes.data() + kIdxBegin + kIdxSizeBytes * i;
    header.shape.push_back(int64_t{at[0]} << 24 | at[1] << 16 | at[2] << 8 | at[3]);
  }
  return header;
}

}  // namespace

ArrayFile::ArrayFile(const std::filesystem::path& path) : file_(path) {
  read_header();
  const Shape& shape = header_.shape;
  const std::string& name = file_.name();
  if (shape.empty() || std::ranges::find(shape, 0) != shape.end()) {
    throw bad_input("{}: array of shape {} has no images", name, to_text(shape));
  }
  image_elements_ = image_element_count(shape);
  image_bytes_ = checked_mul(image_elements_, static_cast<int64_t>(header_.element_bytes));
  const int64_t wanted = checked_mul(image_bytes_, shape[0]);
  const std::optional<int64_t> all = file_.size();
  if (const int64_t present = all.value_or(0) - static_cast<int64_t>(header_.bytes); all && present != wanted) {
    throw bad_input("{}: shape {} needs {} bytes after the header, the file has {}", name, to_text(shape), wanted,
                    present);
  }
  seek(0);
}

void ArrayFile::read_header() {
  std::vector<uint8_t> begin(kMostHeaderBytes);
  begin.resize(file_.read(begin));
  constexpr std::array<uint8_t, 6> kNpy = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  const bool npy = begin.size() > kNpy.size() && std::equal(kNpy.begin(), kNpy.end(), begin.begin());
  header_ = npy ? parse_npy_header(begin, file_.name()) : parse_idx_header(begin, file_.name());
}

void ArrayFile::seek(int64_t image) {
  next_ = image;
  ended_ = false;
  file_.seek(static_cast<int64_t>(header_.bytes) + image * image_bytes_);
}

int64_t ArrayFile::read(int64_t count, ElementType as, void* to) {
  count = std::min(count, shape()[0] - next_);
  const auto bytes = static_cast<size_t>(count * image_bytes_);
  const bool as_it_is = as == type() && header_.element_bytes == size_of(as);
  if (!as_it_is) staged_.resize(bytes);
  uint8_t* const into = as_it_is ? static_cast<uint8_t*>(to) : staged_.data();
  const int64_t got = static_cast<int64_t>(file_.read({into, bytes})) / image_bytes_;
  if (ended_ || (got == 0 && count > 0)) {
    throw bad_input("{}: truncated: image {} of {} (counted from 0) is incomplete", file_.name(), next_, shape()[0]);
  }
  if (!as_it_is) {
    const auto used = static_cast<size_t>(got * image_bytes_);
    const Tensor elements = converted(npy_elements(header_, {into, used}, {got * image_elements_}, file_.name()), as);
    std::memcpy(to, elements.raw(), elements.bytes());
  }
  next_ += got;
  ended_ = got < count;
  return got;
}

void ArrayFile::expect_end() {
  seek(shape()[0]);
  uint8_t more;
  if (file_.read({&more, 1}) != 0) {
    throw bad_input("{}: unexpected data after byte {}, the end according to the header", file_.name(),
                    file_.position() - 1);
  }
}

}  // namespace convlab
