#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convlab/dataset/content_file.h"

namespace convlab {

/// Streams the files of a tar archive (ustar, pax, GNU; gzipped or not). The archive need not fit into memory.
class TarFile {
 public:
  struct Entry {
    std::string name;
    int64_t bytes = 0;
    bool link = false;  ///< a link to another entry, which has the content
  };

  /// Errors as in ContentFile().
  explicit TarFile(const std::filesystem::path& path);

  /// Returns the next file or link; nullopt at the end. Skips directories, devices and other special entries. Throws
  /// Error(bad_input) with the archive's name and the byte offset if it is corrupt, truncated or not a tar archive.
  std::optional<Entry> next();

  /// Returns the content of the entry that next() returned last; may be called once. Throws Error(bad_input) if it is
  /// truncated or does not fit into memory.
  std::vector<uint8_t> content();

 private:
  ContentFile file_;
  int64_t next_header_ = 0;
  Entry entry_;
};

}  // namespace convlab
