// Reads the external data of ONNX models, only from inside the model's folder.

#include "convlab/model/onnx/onnx_external.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "convlab/base/error.h"
#include "convlab/base/text.h"

namespace convlab {
namespace {

/// Opens a file below a folder, one path component at a time; none of them may be a symbolic link. Returns -1 and sets
/// errno on failure.
int open_below(const std::filesystem::path& folder, const std::filesystem::path& relative) {
  int at = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (auto part = relative.begin(); at >= 0 && part != relative.end(); ++part) {
    const bool last = std::next(part) == relative.end();
    const int next =
        ::openat(at, part->c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (last ? 0 : O_DIRECTORY));
    const int error = errno;
    ::close(at);
    errno = error;
    at = next;
  }
  return at;
}

}  // namespace

ExternalFiles::~ExternalFiles() {
  for (const auto& [location, file] : files_) ::close(file.descriptor);
}

ExternalFiles::File& ExternalFiles::open(const std::string& location) {
  if (const auto found = files_.find(location); found != files_.end()) return found->second;
  const std::string name = printable(location);
  if (folder_.empty())
    throw bad_input("the data is in external file '{}', but the folder of the model is not known", name);
  const std::filesystem::path relative(location);
  const bool climbs = std::ranges::find(relative, "..") != relative.end();
  if (location.empty() || location.find('\0') != std::string::npos || relative.is_absolute() || climbs) {
    throw bad_input("external data file '{}' must be inside the folder of the model", name);
  }
  File file{.descriptor = open_below(folder_, relative)};
  if (file.descriptor < 0) {
    const char* why = errno == ELOOP ? "it is a symbolic link, which may point outside the folder of the model"
                                     : std::strerror(errno);
    throw bad_input("cannot open external data file '{}': {}", (folder_ / name).string(), why);
  }
  struct stat status {};
  if (::fstat(file.descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(file.descriptor);
    throw bad_input("external data file '{}' is not a regular file", name);
  }
  file.bytes = status.st_size;
  return files_.emplace(location, std::move(file)).first->second;
}

void ExternalFiles::reserve(const std::string& location, int64_t offset, int64_t bytes) {
  File& file = open(location);
  if (offset < 0 || bytes < 0 || offset > file.bytes || bytes > file.bytes - offset) {
    throw bad_input("external data ({} bytes at offset {}) is outside file '{}', which has {} bytes", bytes, offset,
                    printable(location), file.bytes);
  }
  if (bytes == 0) return;
  const int64_t end = offset + bytes;
  const auto after = file.reserved.upper_bound(offset);
  const auto overlaps = [&](const auto& range) {
    const auto& [from, to] = range;
    return from < end && offset < to && !(from == offset && to == end);
  };
  const bool next = after != file.reserved.end() && overlaps(*after);
  const bool before = after != file.reserved.begin() && overlaps(*std::prev(after));
  if (next || before) {
    throw bad_input("external data (bytes {} to {} of '{}') overlaps the data of another tensor", offset, end,
                    printable(location));
  }
  file.reserved[offset] = end;
}

void ExternalFiles::read(const std::string& location, int64_t offset, std::span<uint8_t> into) {
  const File& file = open(location);
  while (!into.empty()) {
    const ssize_t got = ::pread(file.descriptor, into.data(), into.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw bad_input("cannot read external data file '{}': {}", printable(location),
                      got < 0 ? std::strerror(errno) : "the file is truncated");
    into = into.subspan(static_cast<size_t>(got));
    offset += got;
  }
}

}  // namespace convlab
