#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace convlab {

/// The external data files that hold a model's weights. Files outside the model's folder are never read.
class ExternalFiles {
 public:
  /// Without a folder there are no files: reading one throws Error(bad_input).
  ExternalFiles() = default;
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~ExternalFiles();
  ExternalFiles(const ExternalFiles&) = delete;
  ExternalFiles& operator=(const ExternalFiles&) = delete;

  /// Throws Error(bad_input) with only the reason if `location` is not a regular file inside the folder (it contains
  /// "..", is absolute, or is a symbolic link), if it does not hold `bytes` bytes from `offset` on, or if that range
  /// overlaps the range of an earlier call without being equal to it.
  void reserve(const std::string& location, int64_t offset, int64_t bytes);

  /// Reads a range that has been reserved.
  void read(const std::string& location, int64_t offset, std::span<uint8_t> into);

  /// Returns the size of the file in bytes.
  int64_t size(const std::string& location) { return open(location).bytes; }

 private:
  struct File {
    int descriptor = -1;
    int64_t bytes = 0;
    std::map<int64_t, int64_t> reserved;  ///< by begin: the end of the range
  };

  File& open(const std::string& location);

  std::filesystem::path folder_;
  std::map<std::string, File> files_;
};

}  // namespace convlab
