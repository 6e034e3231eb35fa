// Creates and cleans up the temporary folders of judgments.

#include "convlab/judge/work_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <system_error>

#include "convlab/base/error.h"
#include "convlab/base/file.h"

namespace convlab::judge {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kBegin = "convlab-judge-";
constexpr const char* kLock = "in-use";

/// Returns the file descriptor of the folder's lock, which is released when its owner ends; -1 if another process holds
/// it or there is none.
int locked(const fs::path& folder, int flags) {
  const int file = ::open((folder / kLock).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, S_IRUSR | S_IWUSR);
  if (file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  if (file >= 0) ::close(file);
  return -1;
}

/// Removes folders left by judges that were killed.
void sweep(const fs::path& parent) {
  std::error_code error;
  for (const fs::directory_entry& each : fs::directory_iterator(parent, error)) {
    struct stat status {};
    if (!each.path().filename().string().starts_with(kBegin) || ::lstat(each.path().c_str(), &status) != 0) continue;
    if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) continue;
    const int lock = locked(each.path(), 0);
    if (lock < 0) continue;
    fs::remove_all(each.path(), error);
    ::close(lock);
  }
}

}  // namespace

WorkFolder::WorkFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  sweep(parent);
  std::string pattern = (parent / fmt::format("{}XXXXXX", kBegin)).string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) throw unavailable("cannot create a temporary folder {}", pattern);
  path_ = pattern;
  lock_ = locked(path_, O_CREAT);
}

WorkFolder::~WorkFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
  if (lock_ >= 0) ::close(lock_);
}

fs::path WorkFolder::empty_file(const std::string& name) const {
  fs::path path = path_ / name;
  write_file(path, std::string_view());
  return path;
}

fs::path WorkFolder::folder(const std::string& name) const {
  fs::path path = path_ / name;
  fs::create_directory(path);
  return path;
}

std::string WorkFolder::without_path(std::string text) const {
  const auto erase = [&](const std::filesystem::path& folder) {
    const std::string unwanted = folder.string() + "/";
    for (size_t at = 0; (at = text.find(unwanted, at)) != std::string::npos;) text.erase(at, unwanted.size());
  };
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(path_)) {
    if (entry.is_directory()) erase(entry.path());
  }
  erase(path_);
  return text;
}

}  // namespace convlab::judge
