#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convlab {

/// Throws Error(bad_input) with path and reason if the path is something other than a regular file: opening a pipe
/// would wait for a writer.
void require_regular_file(const std::filesystem::path& path);

/// Returns all bytes of a file. Throws Error(bad_input) with path and reason if it is missing, a directory, unreadable,
/// or larger than `limit` bytes or than the memory that this process may use (checked before anything is allocated).
std::vector<uint8_t> read_file(const std::filesystem::path& path, int64_t limit = int64_t{4} << 30);

/// A file with random access, so that it need not be in memory as a whole.
class InputFile {
 public:
  /// Errors as in read_file().
  explicit InputFile(const std::filesystem::path& path, int64_t limit = int64_t{4} << 30);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The file's size in bytes when it was opened.
  int64_t size() const { return size_; }

  /// Fills `into` with the bytes from `offset` on. Throws Error(bad_input) with path and reason if the file has become
  /// shorter or cannot be read.
  void read(int64_t offset, std::span<uint8_t> into) const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  int64_t size_ = 0;
};

/// Same as read_file(), as text.
std::string read_text(const std::filesystem::path& path, int64_t limit = int64_t{4} << 30);

/// Writes a file through a temporary file in the same directory, which is then renamed, so that a failure never leaves
/// half a file. A symbolic link stays; its target is written. Devices and pipes (/dev/stdout) are written directly.
/// Throws Error(bad_input) with path and reason.
void write_file(const std::filesystem::path& path, std::span<const uint8_t> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace convlab
