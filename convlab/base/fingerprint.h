#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace convlab {

/// A 128-bit hash that detects whether two texts differ: FNV-1a, twice, with two offset bases. It does not protect
/// against deliberate collisions: use it only for the reader's own files.
class Fingerprint {
 public:
  void add(std::string_view text);

  /// Adds a file's content, read in chunks. Errors as in InputFile.
  void add_file(const std::filesystem::path& path);
  std::string hex() const;

 private:
  uint64_t low_ = 0xcbf29ce484222325, high_ = 0x6c62272e07bb0142;
};

}  // namespace convlab
