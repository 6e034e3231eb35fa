#include "convlab/base/resources.h"

#include <string>

#include "convlab/base/error.h"

namespace convlab {

namespace fs = std::filesystem;

fs::path find_resource(const fs::path& relative) {
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  const fs::path current = fs::current_path(error);
  std::string looked;
  for (const fs::path& start : {executable.parent_path(), current}) {
    for (fs::path folder = start; !folder.empty(); folder = folder.parent_path()) {
      if (fs::exists(folder / relative, error)) return folder / relative;
      if (folder == folder.root_path()) break;
    }
    if (!start.empty()) looked += (looked.empty() ? "" : " and from ") + start.string();
  }
  throw bad_input("{}: not found upwards from {}; run convlab from its folder or give the file's path",
                  relative.string(), looked);
}

}  // namespace convlab
