// Keeps compiled kernel files in a folder between runs.

#include "convlab/kernel_file/cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "convlab/base/error.h"

namespace convlab {
namespace fs = std::filesystem;
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

fs::path wanted_folder() {
  if (const std::string own = environment("CONVLAB_CACHE"); !own.empty()) return own;
  if (const std::string all = environment("XDG_CACHE_HOME"); !all.empty()) return fs::path(all) / "convlab";
  if (const std::string home = environment("HOME"); !home.empty()) return fs::path(home) / ".cache" / "convlab";
  return {};
}

bool can_write(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  return fs::is_directory(folder, error) && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

Cache::Cache() : folder_(wanted_folder()) {
  if (!folder_.empty() && can_write(folder_)) return;
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "convlab-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    throw unavailable("no writable folder for compiled kernel files: tried {} and {}; set CONVLAB_CACHE",
                      folder_.empty() ? "~/.cache" : folder_.string(), pattern);
  }
  folder_ = pattern;
  temporary_ = true;
}

Cache::~Cache() {
  std::error_code error;
  if (temporary_) fs::remove_all(folder_, error);
}

fs::path Cache::place_for(const std::string& name) const {
  static std::atomic<int> count{0};
  return folder_ / fmt::format("{}.{}.{}", name, ::getpid(), count++);
}

fs::path Cache::find_or_make(const std::string& name, const std::function<void(const fs::path& made)>& make) const {
  constexpr uintmax_t kMostBytes = uintmax_t{512} << 20;
  fs::path kept = path_of(name);
  std::error_code error;
  if (fs::exists(kept, error)) {
    fs::last_write_time(kept, fs::file_time_type::clock::now(), error);
    return kept;
  }
  const fs::path made = place_for(name);
  make(made);
  fs::rename(made, kept, error);
  if (error) throw unavailable("{}: cannot store in the cache: {}", kept.string(), error.message());
  shrink(kMostBytes);
  return kept;
}

void Cache::shrink(uintmax_t most_bytes) const {
  struct File {
    fs::file_time_type time;
    uintmax_t bytes;
    fs::path path;
  };
  std::error_code error;
  std::vector<File> files;
  uintmax_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (!entry.is_regular_file(error)) continue;
    const uintmax_t size = entry.file_size(error);
    if (error) continue;
    files.push_back({entry.last_write_time(error), size, entry.path()});
    bytes += size;
  }
  std::ranges::sort(files, {}, &File::time);
  for (const File& file : files) {
    if (bytes <= most_bytes) break;
    if (fs::remove(file.path, error)) bytes -= file.bytes;
  }
}

}  // namespace convlab
