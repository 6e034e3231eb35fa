// Streams the files of tar archives.

#include "convlab/dataset/tar_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "convlab/base/error.h"
#include "convlab/base/limits.h"
#include "convlab/base/text.h"

namespace convlab {
namespace {

constexpr int64_t kBlock = 512;
constexpr int64_t kMostNameBytes = 1 << 20;  // of the extra header of an entry with a long name
constexpr int64_t kMostEntryBytes = int64_t{1} << 50;
constexpr int64_t kUnknown = -1;

using Block = std::array<uint8_t, kBlock>;

/// Returns a field of a header, up to its first zero byte.
std::string_view text_at(const Block& block, size_t at, size_t length) {
  const std::string_view field(reinterpret_cast<const char*>(block.data()) + at, length);
  return field.substr(0, field.find('\0'));
}

/// Returns a number in octal digits or, if the field's first bit is set, in base 256; -1 if it is invalid.
int64_t number_at(const Block& block, size_t at, size_t length) {
  if ((block[at] & 0x80) != 0) {
    int64_t value = block[at] & 0x7f;
    for (size_t i = 1; i < length; ++i) {
      if (value > kMostEntryBytes) return -1;
      value = value << 8 | block[at + i];
    }
    return value;
  }
  std::string_view digits = text_at(block, at, length);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  digits = digits.substr(0, digits.find(' '));
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  return error == std::errc() && end == digits.data() + digits.size() ? value : digits.empty() ? 0 : -1;
}

/// Returns the sum of a header's bytes, with the checksum field read as spaces.
int64_t checksum_of(const Block& block) {
  constexpr size_t kAt = 148, kLength = 8;
  int64_t sum = 0;
  for (size_t i = 0; i < block.size(); ++i) sum += i >= kAt && i < kAt + kLength ? ' ' : block[i];
  return sum;
}

std::string entry_name(const Block& block) {
  const std::string name(text_at(block, 0, 100));
  const bool ustar =
      text_at(block, 257, 6) == "ustar";  // GNU's magic is "ustar ", and its prefix field has other contents
  const std::string prefix(ustar ? text_at(block, 345, 155) : "");
  return prefix.empty() ? name : prefix + "/" + name;
}

/// Reads the pax header of the next entry: lines "LENGTH KEY=VALUE\n", where LENGTH is that of the whole line.
void read_pax(std::string_view text, std::string& path, int64_t& bytes, const std::string& place) {
  while (!text.empty()) {
    size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto begin = static_cast<size_t>(end - text.data()) + 1;
    if (error != std::errc() || length <= begin || length > text.size())
      throw bad_input("{}: corrupt pax header", place);
    const std::string_view record = text.substr(begin, length - begin - 1);
    if (record.starts_with("path=")) path = record.substr(5);
    if (record.starts_with("size=")) bytes = parse_int(record.substr(5), place + ": entry size", 0, kMostEntryBytes);
    if (record.starts_with("GNU.sparse."))
      throw bad_input("{}: sparse files are not supported; create the archive without --sparse", place);
    text.remove_prefix(length);
  }
}

}  // namespace

TarFile::TarFile(const std::filesystem::path& path) : file_(path) {}

std::optional<TarFile::Entry> TarFile::next() {
  std::string path;  // from the extra header of an entry with a long name
  int64_t size = kUnknown;
  while (true) {
    const std::string place = fmt::format("{}: byte {}", file_.name(), next_header_);
    file_.seek(next_header_);
    Block block;
    if (file_.read(block) != block.size()) throw bad_input("{}: truncated archive, or not a tar archive", place);
    if (std::ranges::all_of(block, [](uint8_t byte) { return byte == 0; })) return std::nullopt;
    if (number_at(block, 148, 8) != checksum_of(block)) {
      throw bad_input("{}: {}", place, next_header_ == 0 ? "not a tar archive" : "corrupt archive");
    }
    const char type = static_cast<char>(block[156]);
    const bool empty = type >= '1' && type <= '6';  // links, devices, directories
    entry_ = {.name = path.empty() ? entry_name(block) : path,
              .bytes = empty              ? 0
                       : size == kUnknown ? number_at(block, 124, 12)
                                          : size,
              .link = type == '1' || type == '2'};
    if (entry_.bytes < 0 || entry_.bytes > kMostEntryBytes) throw bad_input("{}: corrupt archive", place);
    next_header_ += kBlock + (entry_.bytes + kBlock - 1) / kBlock * kBlock;
    if (type == 'x' || type == 'L') {
      if (entry_.bytes > kMostNameBytes)
        throw bad_input("{}: the header of a long name has {} bytes; at most {} are supported", place, entry_.bytes,
                        kMostNameBytes);
      const std::vector<uint8_t> bytes = content();
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (type == 'x') {
        read_pax(text, path, size, place);
      } else {
        path = text.substr(0, text.find('\0'));
      }
      continue;
    }
    if (type == 'S') throw bad_input("{}: sparse files are not supported; create the archive without --sparse", place);
    if (type == '0' || type == '\0' || type == '7' || entry_.link) return entry_;
    if (type == 'g' || type == 'K') continue;  // global pax header; GNU long link target
    path.clear();
    size = kUnknown;
  }
}

std::vector<uint8_t> TarFile::content() {
  require_memory(entry_.bytes, fmt::format("{}: entry {} needs", file_.name(), printable(entry_.name)),
                 "remove it from the archive");
  if (const std::optional<int64_t> all = file_.size(); all && file_.position() + entry_.bytes > *all) {
    throw bad_input("{}: archive is truncated in entry {}", file_.name(), printable(entry_.name));
  }
  std::vector<uint8_t> bytes(static_cast<size_t>(entry_.bytes));
  if (file_.read(bytes) != bytes.size()) {
    throw bad_input("{}: archive is truncated in entry {}", file_.name(), printable(entry_.name));
  }
  return bytes;
}

}  // namespace convlab
