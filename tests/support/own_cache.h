#pragma once

#include <cstdlib>
#include <filesystem>

#include "tests/support/paths.h"

namespace convlab {

/// Sets $CONVLAB_CACHE to this folder for the lifetime of the object. All tests of a build share precompiled headers,
/// because making them takes seconds.
class OwnCache {
 public:
  explicit OwnCache(const std::filesystem::path& folder) {
    const std::filesystem::path headers = convlab_program().parent_path() / "precompiled_for_tests";
    std::filesystem::create_directories(headers);
    std::filesystem::create_directories(folder);
    std::filesystem::create_directory_symlink(headers, folder / "headers");
    ::setenv("CONVLAB_CACHE", folder.c_str(), 1);
  }
  ~OwnCache() { ::unsetenv("CONVLAB_CACHE"); }
  OwnCache(const OwnCache&) = delete;
  OwnCache& operator=(const OwnCache&) = delete;
};

}  // namespace convlab
