#include "convlab/judge/work_folder.h"

#include <unistd.h>

#include <cstdlib>
#include <system_error>

#include "convlab/base/error.h"
#include "convlab/base/file.h"

namespace convlab::judge {
namespace fs = std::filesystem;

WorkFolder::WorkFolder() {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "convlab-judge-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) throw unavailable("cannot make a folder like {}", pattern);
  path_ = pattern;
}

WorkFolder::~WorkFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

fs::path WorkFolder::empty_file(const std::string& name) const {
  const fs::path path = path_ / name;
  write_file(path, std::string_view());
  return path;
}

fs::path WorkFolder::folder(const std::string& name) const {
  const fs::path path = path_ / name;
  fs::create_directory(path);
  return path;
}

std::string WorkFolder::without_path(std::string text) const {
  const std::string unwanted = path_.string() + "/";
  for (size_t at = 0; (at = text.find(unwanted, at)) != std::string::npos;) text.erase(at, unwanted.size());
  return text;
}

}  // namespace convlab::judge
