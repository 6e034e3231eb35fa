#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace convlab {

/// What the cache of compiled files may hold.
inline constexpr uintmax_t kMostCacheBytes = uintmax_t{512} << 20;

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

  /// Removes the oldest files until the folder holds at most `most_bytes` bytes.
  void shrink(uintmax_t most_bytes) const;

 private:
  std::filesystem::path folder_;
  bool temporary_ = false;
};

}  // namespace convlab
