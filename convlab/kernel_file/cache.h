#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace convlab {

/// A folder that stores files by name. Files are created by rename, so readers never see a partial file and several
/// processes can share the folder.
class Cache {
 public:
  /// Uses $CONVLAB_CACHE, otherwise convlab in $XDG_CACHE_HOME or in ~/.cache. If that folder is not writable, creates
  /// a temporary one, which the destructor removes. Throws Error(unavailable) if neither can be written.
  Cache();
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  bool is_temporary() const { return temporary_; }
  std::filesystem::path path_of(const std::string& name) const { return folder_ / name; }

  /// Returns a unique path next to path_of(name), for writing the file before it is renamed.
  std::filesystem::path place_for(const std::string& name) const;

  /// Returns the path of the file `name`. If the folder lacks it, `make` writes it to the path that it gets, and old
  /// files make room for it. Throws Error(unavailable) if it cannot be stored.
  std::filesystem::path find_or_make(const std::string& name,
                                     const std::function<void(const std::filesystem::path& made)>& make) const;

  /// Removes the oldest files until the folder holds at most `most_bytes` bytes.
  void shrink(uintmax_t most_bytes) const;

 private:
  std::filesystem::path folder_;
  bool temporary_ = false;
};

}  // namespace convlab
