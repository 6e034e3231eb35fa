#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace convlab {

/// Streams a file's content, decompressing it if the file is gzipped. The content need not fit into memory.
class ContentFile {
 public:
  /// Throws Error(bad_input) with path and reason if the file is missing, unreadable or not a regular file.
  explicit ContentFile(const std::filesystem::path& path);
  ~ContentFile();
  ContentFile(const ContentFile&) = delete;
  ContentFile& operator=(const ContentFile&) = delete;

  /// The path passed to the constructor.
  const std::string& name() const { return name_; }

  /// Returns the bytes of the content; nullopt for a gzipped file, whose size is unknown until all of it is read.
  std::optional<int64_t> size() const;

  /// The offset in the content at which read() continues.
  int64_t position() const;

  /// Makes read() continue at another offset. In a gzipped file, this decompresses everything before it.
  void seek(int64_t position);

  /// Reads the next bytes. Returns their number, less than requested only at the end of the content or before corrupt
  /// data. Throws Error(bad_input) with name and reason if nothing can be read or the gzip data is truncated.
  size_t read(std::span<uint8_t> to);

 private:
  struct Handle;

  size_t read_some(std::span<uint8_t> to);

  std::string name_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace convlab
