#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace convlab {

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Returns every file under `folder`, relative to it, without build outputs and hidden folders.
inline std::vector<std::filesystem::path> files_under(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (auto entry = std::filesystem::recursive_directory_iterator(folder);
       entry != std::filesystem::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() && (name.starts_with('.') || name == "build" || name == "__pycache__")) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      files.push_back(std::filesystem::relative(entry->path(), folder));
    }
  }
  return files;
}

inline bool has_ending(const std::filesystem::path& path, std::initializer_list<const char*> endings) {
  for (const char* ending : endings) {
    if (path.extension() == ending) return true;
  }
  return false;
}

}  // namespace convlab
