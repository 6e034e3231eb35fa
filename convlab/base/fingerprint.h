#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace convlab {

/// 128 bits of a text, which tell whether two are the same: FNV-1a, twice, from two beginnings. It is no protection
/// against somebody who wants two texts to collide: it is for files that are their reader's own.
class Fingerprint {
 public:
  void add(std::string_view text);

  /// A file's content, a piece at a time. Errors as of InputFile.
  void add_file(const std::filesystem::path& path);
  std::string hex() const;

 private:
  uint64_t low_ = 0xcbf29ce484222325, high_ = 0x6c62272e07bb0142;
};

}  // namespace convlab
