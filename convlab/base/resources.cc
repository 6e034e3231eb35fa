// Finds files that are shipped with the program or the library.

#include "convlab/base/resources.h"

#include <dlfcn.h>

#include <string>
#include <vector>

#include "convlab/base/error.h"

namespace convlab {

namespace fs = std::filesystem;

namespace {

/// Returns the path of the program, or of the loaded library, that contains this code.
fs::path own_file() {
  Dl_info info{};
  std::error_code error;
  const bool found = ::dladdr(reinterpret_cast<const void*>(&find_resource), &info) != 0 && info.dli_fname != nullptr;
  const fs::path file = found ? fs::canonical(info.dli_fname, error) : fs::path();
  return error || file.empty() ? fs::read_symlink("/proc/self/exe", error) : file;
}

}  // namespace

fs::path find_resource(const fs::path& relative) {
  const fs::path kInstalled = "share/convlab", begin = own_file().parent_path();
  std::error_code error;
  for (fs::path folder = begin; !folder.empty(); folder = folder.parent_path()) {
    for (const fs::path& place : {folder / relative, folder / kInstalled / relative}) {
      if (fs::exists(place, error)) return place;
    }
    if (folder == folder.root_path()) break;
  }
  throw bad_input("cannot find {} in {} or its parent directories; reinstall convlab, or pass the file's path",
                  relative.string(), begin.string());
}

}  // namespace convlab
