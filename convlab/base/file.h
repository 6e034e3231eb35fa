#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convlab {

/// Error(bad_input) with path and reason where something else than a regular file is there: opening a pipe would wait
/// for a writer.
void require_regular_file(const std::filesystem::path& path);

/// All bytes of a file. Error(bad_input) with path and reason where it is missing, a folder, unreadable, or larger
/// than `limit` bytes or than the memory that this process may use (nothing is allocated before the size is known).
std::vector<uint8_t> read_file(const std::filesystem::path& path, int64_t limit = int64_t{4} << 30);

/// A file whose bytes are read where and when they are wanted, so that they need not be in memory all at once.
class InputFile {
 public:
  /// Errors as read_file().
  explicit InputFile(const std::filesystem::path& path, int64_t limit = int64_t{4} << 30);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Bytes of the file when it was opened.
  int64_t size() const { return size_; }

  /// Fills `into` with the bytes from `offset` on. Error(bad_input) with path and reason where they are there no more.
  void read(int64_t offset, std::span<uint8_t> into) const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  int64_t size_ = 0;
};

/// The same as text.
std::string read_text(const std::filesystem::path& path, int64_t limit = int64_t{4} << 30);

/// Writes all bytes, through a temporary file beside it that is renamed, so that a failure never leaves half a file. A
/// link stays, and what it leads to is written. Devices and pipes (/dev/stdout) are written directly. Error(bad_input)
/// with path and reason.
void write_file(const std::filesystem::path& path, std::span<const uint8_t> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace convlab
