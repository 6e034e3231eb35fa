// Creates and checks class folders.

#include "convlab/classroom/folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "convlab/base/error.h"

namespace convlab::classroom {
namespace {

namespace fs = std::filesystem;

struct Part {
  const char* name;
  mode_t mode;
};
constexpr std::array kParts{Part{"public", 0755},  Part{"secret", 0700}, Part{"spool", 03733},
                            Part{"answers", 0711}, Part{"files", 0700},  Part{"jobs", 0700}};

void make_folder(const fs::path& path, mode_t mode) {
  // chmod, because the umask clears bits of mkdir's mode.
  const bool made = ::mkdir(path.c_str(), 0700) == 0 || (errno == EEXIST && fs::is_directory(path));
  if (!made || ::chmod(path.c_str(), mode) != 0) {
    throw bad_input("cannot create the folder {}: {}", path.string(), std::strerror(errno));
  }
}

}  // namespace

Folder::Folder(fs::path root) : root_(std::move(root)) {
  std::error_code error;
  if (!fs::is_directory(root_, error)) throw bad_input("{} is not a folder", root_.string());
  if (!fs::is_regular_file(settings(), error)) {
    throw bad_input("{} is not a class: it has no class.toml; create a class with 'convlab class new'", root_.string());
  }
  root_ = fs::absolute(root_);
}

void Folder::create(const fs::path& root) {
  std::error_code error;
  if (fs::exists(root, error) && (!fs::is_directory(root, error) || !fs::is_empty(root, error))) {
    throw bad_input("{} exists and is not empty; choose another DIR", root.string());
  }
  make_folder(root, 0755);
  for (const Part& each : kParts) make_folder(root / each.name, each.mode);
}

fs::path Folder::file(int64_t number, const std::string& name) const {
  return root_ / "files" / std::to_string(number) / name;
}

bool Folder::is_owned() const {
  struct stat status {};
  return ::stat(settings().c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

void Folder::require_owned(const std::string& command) const {
  if (!is_owned()) throw bad_input("{}: only the class owner may run 'convlab class {}'", root_.string(), command);
}

}  // namespace convlab::classroom
