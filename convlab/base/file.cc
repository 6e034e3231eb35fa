// Reads files with checked sizes and writes them atomically.

#include "convlab/base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "convlab/base/error.h"
#include "convlab/base/limits.h"

namespace convlab {
namespace {

using File = std::unique_ptr<FILE, decltype([](FILE* file) { std::fclose(file); })>;

/// Writes a file. Errors are about `shown`, the name that the user knows.
void write_all(const std::filesystem::path& path, std::span<const uint8_t> bytes, const std::filesystem::path& shown) {
  const File file(std::fopen(path.c_str(), "wb"));
  if (!file) throw bad_input("cannot write {}: {}", shown.string(), std::strerror(errno));
  // An empty span may be a null pointer, which fwrite does not accept.
  const bool written = bytes.empty() || std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (std::fflush(file.get()) != 0 || !written) {
    throw bad_input("cannot write {}: {}", shown.string(), std::strerror(errno));
  }
}

/// Returns the path itself or, for a symbolic link, its final target, whether or not that exists.
std::filesystem::path target_of(const std::filesystem::path& path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::error_code error;
  std::filesystem::path target = path;
  for (int links = 0; links < kMostLinks; ++links) {
    if (!std::filesystem::is_symlink(target, error)) return target;
    target = target.parent_path() / std::filesystem::read_symlink(target, error);  // an absolute target replaces all
  }
  throw bad_input("{}: too many levels of symbolic links", path.string());
}

}  // namespace

void require_regular_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) throw bad_input("{} is a directory, not a file", path.string());
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw bad_input("{} is not a regular file", path.string());
  }
}

InputFile::InputFile(const std::filesystem::path& path, int64_t limit) : path_(path) {
  require_regular_file(path);
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw bad_input("cannot open {}: {}", path.string(), error.message());
  if (size > static_cast<uintmax_t>(limit)) {
    throw bad_input("{}: file of {} bytes is too large; at most {} bytes are supported", path.string(), size, limit);
  }
  size_ = static_cast<int64_t>(size);
  require_memory(size_, fmt::format("{}: reading the file needs", path.string()), "use a smaller file");
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw bad_input("cannot open {}: {}", path.string(), std::strerror(errno));
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(int64_t offset, std::span<uint8_t> into) const {
  while (!into.empty()) {
    const ssize_t got = ::pread(descriptor_, into.data(), into.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw bad_input("cannot read {}: {}", path_.string(), std::strerror(errno));
    if (got == 0) throw bad_input("cannot read {}: the file had {} bytes and is shorter now", path_.string(), size_);
    into = into.subspan(static_cast<size_t>(got));
    offset += got;
  }
}

std::vector<uint8_t> read_file(const std::filesystem::path& path, int64_t limit) {
  const InputFile file(path, limit);
  std::vector<uint8_t> bytes(static_cast<size_t>(file.size()));
  file.read(0, bytes);
  return bytes;
}

std::string read_text(const std::filesystem::path& path, int64_t limit) {
  const std::vector<uint8_t> bytes = read_file(path, limit);
  return {bytes.begin(), bytes.end()};
}

void write_file(const std::filesystem::path& path, std::span<const uint8_t> bytes) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return write_all(path, bytes, path);
  const std::filesystem::path target = target_of(path);
  const std::filesystem::path temporary = target.string() + ".partial" + std::to_string(::getpid());
  try {
    write_all(temporary, bytes, path);
  } catch (const Error&) {
    std::filesystem::remove(temporary, error);
    throw;
  }
  std::filesystem::rename(temporary, target, error);
  if (error) {
    const std::string reason = error.message();
    std::filesystem::remove(temporary, error);
    throw bad_input("cannot write {}: {}", path.string(), reason);
  }
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  write_file(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

}  // namespace convlab
