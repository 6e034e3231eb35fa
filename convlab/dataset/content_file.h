#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace convlab {

/// A file's content, read from front to back, and inflated on the way where the file is gzipped: it need not fit into
/// memory.
class ContentFile {
 public:
  /// Error(bad_input) with path and reason where it is missing, unreadable or no regular file.
  explicit ContentFile(const std::filesystem::path& path);
  ~ContentFile();
  ContentFile(const ContentFile&) = delete;
  ContentFile& operator=(const ContentFile&) = delete;

  /// As the file was named.
  const std::string& name() const { return name_; }

  /// Bytes of the content; of a gzipped file only reading all of it would tell.
  std::optional<int64_t> size() const;

  /// Where in the content read() goes on.
  int64_t position() const;

  /// Has read() go on elsewhere. In a gzipped file everything before is inflated.
  void seek(int64_t position);

  /// Reads on; says how many bytes came, fewer than asked for only at the content's end or before what is damaged.
  /// Error(bad_input) with name and reason where nothing can be read, or gzip data breaks off.
  size_t read(std::span<uint8_t> to);

 private:
  struct Handle;

  size_t read_some(std::span<uint8_t> to);

  std::string name_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace convlab
