#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convlab/dataset/content_file.h"

namespace convlab {

/// The files in a tar archive (ustar, pax, GNU; gzipped or not), one after another. It is read from front to back, so
/// it need not fit into memory.
class TarFile {
 public:
  struct Entry {
    std::string name;
    int64_t bytes = 0;
    bool link = false;  ///< to another entry, which has the content
  };

  /// Errors as ContentFile().
  explicit TarFile(const std::filesystem::path& path);

  /// The next file, none at the end. Folders, devices and their like are passed over. Error(bad_input) with the
  /// archive's name and the byte where it is damaged, cut off or no tar archive.
  std::optional<Entry> next();

  /// The content of the entry that next() gave last, once. Error(bad_input) where it is cut off, or does not fit into
  /// memory.
  std::vector<uint8_t> content();

 private:
  ContentFile file_;
  int64_t next_header_ = 0;
  Entry entry_;
};

}  // namespace convlab
