#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace convlab::judge {

/// The maximum size of an answer to the judge, and of a file that a process writes.
inline constexpr int64_t kMostAnswerBytes = int64_t{1} << 20, kMostFileBytes = int64_t{64} << 20;

/// A temporary folder for one judgment, with access only for its user, removed by the destructor. The constructor also
/// removes folders of judges that were killed. Throws Error(unavailable) if it cannot be created.
class WorkFolder {
 public:
  WorkFolder();
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  /// Creates an empty file of this name.
  std::filesystem::path empty_file(const std::string& name) const;
  /// Creates an empty folder of this name.
  std::filesystem::path folder(const std::string& name) const;

  /// Returns the text without the paths of this folder and of the folders in it, which mean nothing to a reader.
  std::string without_path(std::string text) const;

 private:
  std::filesystem::path path_;
  int lock_;
};

}  // namespace convlab::judge
