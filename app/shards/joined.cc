// Merges the output files of all shares of `convlab infer`.

#include "app/shards/joined.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/measure/json_members.h"
#include "convlab/tensor/npy.h"

namespace convlab::app {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 50;
constexpr int64_t kMostHeader = int64_t{1} << 16;

/// The output file of a share.
struct Rows {
  explicit Rows(const Part& part) : path(file_of(part)), file(path, kMostBytes), header(header_of(path, file)) {
    const int64_t wanted = element_count(header.shape) * static_cast<int64_t>(header.element_bytes);
    if (header.shape.empty() || header.shape[0] != part.images || file.size() - offset() != wanted) {
      throw bad_input("{}: {} with {} bytes after the header does not match {}: expected {} rows", path.string(),
                      to_text(header.shape), file.size() - offset(), part.file.string(), part.images);
    }
  }

  /// Returns the file's path: where the share's process wrote it, or next to the Record if it is no longer there.
  static std::filesystem::path file_of(const Part& part) {
    std::string output;
    JsonMembers(*part.record, part.file.string()).read_if_there("output", output);
    if (output.empty()) throw bad_input("{}: this share has no output file", part.file.string());
    const std::filesystem::path path = output, sibling = part.file.parent_path() / path.filename();
    return std::filesystem::exists(path) ? path : sibling;
  }

  static NpyHeader header_of(const std::filesystem::path& path, const InputFile& file) {
    std::vector<uint8_t> bytes(static_cast<size_t>(std::min(file.size(), kMostHeader)));
    file.read(0, bytes);
    return parse_npy_header(bytes, path.string());
  }

  int64_t offset() const { return static_cast<int64_t>(header.bytes); }

  std::filesystem::path path;
  InputFile file;
  NpyHeader header;
};

}  // namespace

void join_outputs(const std::vector<Part>& parts, const std::filesystem::path& path) {
  const Rows one(parts.front());
  Shape shape = one.header.shape;
  shape[0] = parts.front().of;
  for (const Part& part : parts) {
    const Rows rows(part);
    const bool same = rows.header.code == one.header.code && rows.header.shape.size() == shape.size() &&
                      std::equal(shape.begin() + 1, shape.end(), rows.header.shape.begin() + 1);
    if (same) continue;
    throw bad_input("{} and {} do not match: rows are {} {} and {} {}", one.path.string(), rows.path.string(),
                    one.header.code, to_text(one.header.shape), rows.header.code, to_text(rows.header.shape));
  }
  const std::filesystem::path unfinished = path.string() + ".part";
  std::ofstream to(unfinished, std::ios::binary | std::ios::trunc);
  const auto write = [&](const std::vector<uint8_t>& bytes) {
    to.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  };
  write(npy_header(one.header.type, shape));
  constexpr int64_t kChunk = int64_t{8} << 20;
  std::vector<uint8_t> chunk;
  for (const Part& part : parts) {
    const Rows rows(part);
    for (int64_t at = rows.offset(); at < rows.file.size(); at += std::ssize(chunk)) {
      chunk.resize(static_cast<size_t>(std::min(kChunk, rows.file.size() - at)));
      rows.file.read(at, chunk);
      write(chunk);
    }
  }
  to.close();
  std::error_code error;
  if (to) std::filesystem::rename(unfinished, path, error);
  if (to && !error) return;
  std::filesystem::remove(unfinished, error);
  throw bad_input("cannot write all rows of {}; the disk may be full", path.string());
}

}  // namespace convlab::app
