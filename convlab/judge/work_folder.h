#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace convlab::judge {

/// What a process answers the judge with at most, and writes to one file.
inline constexpr int64_t kMostAnswerBytes = int64_t{1} << 20, kMostFileBytes = int64_t{64} << 20;

/// A new folder for one judgement, which nobody else can open and which ends with the value; those of judges that were
/// killed end then, too. Error(unavailable) if none can be made.
class WorkFolder {
 public:
  WorkFolder();
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  /// An empty file of this name.
  std::filesystem::path empty_file(const std::string& name) const;
  /// An empty folder of this name.
  std::filesystem::path folder(const std::string& name) const;

  /// The text without the paths of this folder and of the folders in it, which mean nothing to a reader.
  std::string without_path(std::string text) const;

 private:
  std::filesystem::path path_;
  int lock_;
};

}  // namespace convlab::judge
