// Reads and writes NumPy .npz files, which are zip archives of .npy files.

#include "convlab/tensor/npz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/limits.h"
#include "convlab/base/text.h"
#include "convlab/tensor/npy.h"

namespace convlab {
namespace {

// The zip format, from its specification (APPNOTE.TXT): each member follows a local header; the directory at the end
// repeats all headers; a final record holds the offset of the directory.
constexpr uint32_t kLocalMagic = 0x04034b50, kDirectoryMagic = 0x02014b50, kEndMagic = 0x06054b50;
constexpr int64_t kLocalBytes = 30, kDirectoryBytes = 46, kEndBytes = 22, kMostComment = 0xffff;
constexpr uint32_t kInZip64 = 0xffffffff;  ///< in place of a size or offset: the value is in an extra field
constexpr uint16_t kStored = 0, kDeflated = 8;
constexpr uint16_t kEncrypted = 1, kSizesFollow = 8, kUtf8 = 0x800;  ///< flags
constexpr int64_t kMostInflation = 1032;                             ///< the largest compression ratio of zlib
constexpr std::string_view kNpy = ".npy";

/// A member, as listed in the directory.
struct Member {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0, packed = 0, size = 0, offset = 0;
};

class ZipReader {
 public:
  ZipReader(std::span<const uint8_t> bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  std::vector<Member> members() const {
    const int64_t end = find_end();
    const int64_t count = u16(end + 10);
    int64_t at = u32(end + 16);
    if (u16(end + 4) != 0 || u16(end + 8) != count)
      throw bad_input("{}: multi-part zip archives are not supported", name_);
    std::vector<Member> members;
    for (int64_t i = 0; i < count; ++i) {
      need(at, kDirectoryBytes, "the zip directory");
      if (u32(at) != kDirectoryMagic) throw bad_input("{}: corrupt zip directory at byte {}", name_, at);
      Member member{.flags = u16(at + 8),
                    .method = u16(at + 10),
                    .crc = u32(at + 16),
                    .packed = u32(at + 20),
                    .size = u32(at + 24),
                    .offset = u32(at + 42)};
      const int64_t name_bytes = u16(at + 28), more_bytes = u16(at + 30) + int64_t{u16(at + 32)};
      need(at + kDirectoryBytes, name_bytes + more_bytes, "the zip directory");
      member.name = text(at + kDirectoryBytes, name_bytes);
      at += kDirectoryBytes + name_bytes + more_bytes;
      members.push_back(std::move(member));
    }
    if (at > end) throw bad_input("{}: corrupt zip directory: it extends past its end", name_);
    return members;
  }

  /// Returns the offset of the member's data. Throws Error(bad_input) if its two headers disagree.
  int64_t data_of(const Member& member) const {
    const std::string where = describe(member);
    if (member.flags & kEncrypted) throw bad_input("{}: encrypted archives are not supported", where);
    if (member.method != kStored && member.method != kDeflated) {
      throw bad_input("{}: compression method {} is not supported; use numpy.savez or numpy.savez_compressed", where,
                      member.method);
    }
    if (member.packed == kInZip64 || member.size == kInZip64 || member.offset == kInZip64) {
      throw bad_input("{}: arrays larger than 4 GiB are not supported in .npz; save it as .npy", where);
    }
    const int64_t at = member.offset;
    need(at, kLocalBytes, where);
    const auto demand = [&](bool agrees) {
      if (!agrees) throw bad_input("{}: header does not match the zip directory", where);
    };
    demand(u32(at) == kLocalMagic && u16(at + 8) == member.method);
    const int64_t name_bytes = u16(at + 26), data = at + kLocalBytes + name_bytes + u16(at + 28);
    need(at, data - at, where);
    demand(text(at + kLocalBytes, name_bytes) == member.name);
    if ((u16(at + 6) & kSizesFollow) == 0) {
      const auto agrees = [](uint32_t here, uint32_t there) { return here == there || here == kInZip64; };
      demand(u32(at + 14) == member.crc && agrees(u32(at + 18), member.packed) && agrees(u32(at + 22), member.size));
    }
    need(data, member.packed, where);
    return data;
  }

  /// Returns the member's bytes, decompressed and checked. `buffer` holds decompressed bytes.
  std::span<const uint8_t> unpack(const Member& member, std::vector<uint8_t>& buffer) const {
    const std::string where = describe(member);
    std::span<const uint8_t> data = bytes_.subspan(static_cast<size_t>(data_of(member)), member.packed);
    if (member.method == kStored) {
      if (member.packed != member.size)
        throw bad_input("{}: corrupt: stored size {} does not match original size {}", where, member.packed,
                        member.size);
    } else {
      if (member.size > kMostInflation * int64_t{member.packed}) {
        throw bad_input("{}: corrupt: {} bytes cannot decompress to {}", where, member.packed, member.size);
      }
      require_memory(member.size, fmt::format("{} needs", where), "use fewer images");
      buffer.resize(member.size);
      inflate_into(data, buffer, where);
      data = buffer;
    }
    if (::crc32_z(0, data.data(), data.size()) != member.crc) throw bad_input("{}: corrupt: checksum mismatch", where);
    return data;
  }

  std::string describe(const Member& member) const { return fmt::format("{}: {}", name_, printable(member.name)); }

 private:
  int64_t find_end() const {
    const auto size = static_cast<int64_t>(bytes_.size());
    for (int64_t at = size - kEndBytes; at >= 0 && at >= size - kEndBytes - kMostComment; --at) {
      if (u32(at) == kEndMagic && at + kEndBytes + u16(at + 20) == size) return at;
    }
    throw bad_input("{}: not an .npz file, or truncated: it has no zip directory", name_);
  }

  static void inflate_into(std::span<const uint8_t> from, std::span<uint8_t> to, const std::string& where) {
    z_stream stream{};
    constexpr int kNoHeader = -MAX_WBITS;
    if (inflateInit2(&stream, kNoHeader) != Z_OK) throw bad_input("{}: not enough memory to decompress it", where);
    stream.next_in = const_cast<Bytef*>(from.data());  // zlib does not write to its input
    stream.avail_in = static_cast<uInt>(from.size());
    stream.next_out = to.data();
    stream.avail_out = static_cast<uInt>(to.size());
    const int status = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    if (status != Z_STREAM_END || stream.avail_out != 0 || stream.avail_in != 0) {
      throw bad_input("{}: corrupt: its data does not decompress to {} bytes", where, to.size());
    }
  }

  void need(int64_t at, int64_t count, std::string_view what) const {
    if (at + count > static_cast<int64_t>(bytes_.size())) throw bad_input("{}: truncated in {}", name_, what);
  }
  uint16_t u16(int64_t at) const { return static_cast<uint16_t>(byte(at) | byte(at + 1) << 8); }
  uint32_t u32(int64_t at) const { return u16(at) | static_cast<uint32_t>(u16(at + 2)) << 16; }
  unsigned byte(int64_t at) const { return bytes_[static_cast<size_t>(at)]; }
  std::string text(int64_t at, int64_t count) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + at, static_cast<size_t>(count)};
  }

  std::span<const uint8_t> bytes_;
  std::string_view name_;
};

/// Throws Error(bad_input) if two members overlap. Otherwise a small file could list one member a thousand times.
void check_overlaps(const ZipReader& zip, const std::vector<Member>& members) {
  std::vector<std::pair<int64_t, const Member*>> ends;
  for (const Member& member : members) ends.emplace_back(zip.data_of(member) + member.packed, &member);
  std::ranges::sort(ends, {}, [](const auto& each) { return each.second->offset; });
  for (size_t i = 1; i < ends.size(); ++i) {
    const Member& member = *ends[i].second;
    if (member.offset < ends[i - 1].first) throw bad_input("{}: overlaps another member", zip.describe(member));
  }
}

class ZipWriter {
 public:
  void add(const std::string& name, std::span<const uint8_t> data) {
    const auto offset = static_cast<int64_t>(bytes_.size());
    constexpr int64_t kMost = kInZip64 - 1;
    if (checked_add(offset, static_cast<int64_t>(data.size() + name.size())) + kLocalBytes > kMost) {
      throw bad_input("an .npz file must be smaller than 4 GiB; write the outputs to a directory");
    }
    const auto size = static_cast<uint32_t>(data.size());
    // Version, flags, method, time and date (1980-01-01), checksum, sizes, name length, extra field length (0).
    std::vector<uint8_t> common;
    const auto put = [](std::vector<uint8_t>& to, uint32_t value, int count) {
      for (int i = 0; i < count; ++i) to.push_back(static_cast<uint8_t>(value >> (8 * i)));
    };
    constexpr uint32_t kVersion = 20, kFirstDay = 0x21;
    put(common, kVersion, 2);
    put(common, kUtf8, 2);
    put(common, kStored, 2);
    put(common, 0, 2);
    put(common, kFirstDay, 2);
    put(common, static_cast<uint32_t>(::crc32_z(0, data.data(), data.size())), 4);
    put(common, size, 4);
    put(common, size, 4);
    put(common, static_cast<uint32_t>(name.size()), 2);
    put(common, 0, 2);
    put(bytes_, kLocalMagic, 4);
    bytes_.insert(bytes_.end(), common.begin(), common.end());
    bytes_.insert(bytes_.end(), name.begin(), name.end());
    bytes_.insert(bytes_.end(), data.begin(), data.end());

    put(directory_, kDirectoryMagic, 4);
    put(directory_, kVersion, 2);
    directory_.insert(directory_.end(), common.begin(), common.end());
    for (const int bytes : {2, 2, 2, 4}) put(directory_, 0, bytes);  // comment, disk, internal and external attributes
    put(directory_, static_cast<uint32_t>(offset), 4);
    directory_.insert(directory_.end(), name.begin(), name.end());
    ++count_;
  }

  std::vector<uint8_t> finish() && {
    const auto put = [this](size_t value, int count) {
      for (int i = 0; i < count; ++i) bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
    };
    const size_t offset = bytes_.size();
    bytes_.insert(bytes_.end(), directory_.begin(), directory_.end());
    put(kEndMagic, 4);
    put(0, 4);  // disk numbers: a single file
    put(count_, 2);
    put(count_, 2);
    put(directory_.size(), 4);
    put(offset, 4);
    put(0, 2);
    return std::move(bytes_);
  }

 private:
  std::vector<uint8_t> bytes_, directory_;
  size_t count_ = 0;
};

}  // namespace

std::vector<NamedTensor> parse_npz(std::span<const uint8_t> bytes, std::string_view name) {
  const ZipReader zip(bytes, name);
  const std::vector<Member> members = zip.members();
  check_overlaps(zip, members);
  std::vector<NamedTensor> arrays;
  std::vector<uint8_t> buffer;
  for (const Member& member : members) {
    if (!member.name.ends_with(kNpy)) continue;
    const std::string array = member.name.substr(0, member.name.size() - kNpy.size());
    if (std::ranges::find(arrays, array, &NamedTensor::name) != arrays.end()) {
      throw bad_input("{}: duplicate array name", zip.describe(member));
    }
    arrays.push_back({array, parse_npy(zip.unpack(member, buffer), zip.describe(member))});
  }
  if (arrays.empty()) throw bad_input("{}: the archive has no arrays", name);
  return arrays;
}

std::vector<uint8_t> to_npz(std::span<const NamedTensor> arrays) {
  ZipWriter zip;
  for (const NamedTensor& each : arrays) zip.add(each.name + std::string(kNpy), to_npy(each.tensor));
  return std::move(zip).finish();
}

}  // namespace convlab
