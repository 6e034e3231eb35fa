#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace convlab {

/// A folder that keeps files by name. Files appear whole, by renaming, so that several processes may share it.
class Cache {
 public:
  /// The folder $CONVLAB_CACHE, otherwise convlab in $XDG_CACHE_HOME or in ~/.cache. Where it cannot be written, a
  /// temporary one, which ends with the value.
  Cache();
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  bool is_temporary() const { return temporary_; }
  std::filesystem::path path_of(const std::string& name) const { return folder_ / name; }

  /// A name beside path_of(name) that nobody else writes to.
  std::filesystem::path place_for(const std::string& name) const;

  /// Removes the oldest files until at most so many bytes are left.
  void shrink(uintmax_t most_bytes) const;

 private:
  std::filesystem::path folder_;
  bool temporary_ = false;
};

}  // namespace convlab
