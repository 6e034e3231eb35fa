#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace convlab {

/// The files beside a model that hold its weights. Nothing outside the model's folder is read.
class ExternalFiles {
 public:
  /// Without a folder there are none: reading from one is Error(bad_input).
  ExternalFiles() = default;
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~ExternalFiles();
  ExternalFiles(const ExternalFiles&) = delete;
  ExternalFiles& operator=(const ExternalFiles&) = delete;

  /// Error(bad_input) with the reason alone where `location` is no plain file inside the folder (it has a "..", is
  /// absolute, or a link), where it does not hold `bytes` bytes from `offset` on, or where these overlap, but are not,
  /// those of an earlier call.
  void reserve(const std::string& location, int64_t offset, int64_t bytes);

  /// Reads what has been reserved.
  void read(const std::string& location, int64_t offset, std::span<uint8_t> into);

  /// Bytes of the file.
  int64_t size(const std::string& location) { return open(location).bytes; }

 private:
  struct File {
    int descriptor = -1;
    int64_t bytes = 0;
    std::map<int64_t, int64_t> reserved;  ///< end by begin
  };

  File& open(const std::string& location);

  std::filesystem::path folder_;
  std::map<std::string, File> files_;
};

}  // namespace convlab
