#include "convlab/kernel_file/library.h"

#include <dlfcn.h>

#include "convlab/base/error.h"

namespace convlab {

LoadedFile::LoadedFile(const std::filesystem::path& library) {
  // Now, so that a name which nobody defines shows here and not in the middle of a run.
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    throw bad_input("cannot load the compiled kernel file: {}", why != nullptr ? why : "no reason given");
  }
  entry_ = static_cast<const FileEntry*>(::dlsym(handle, "convlab_kernel_file"));
}

}  // namespace convlab
