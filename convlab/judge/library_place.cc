// Finds where a compiled kernel file is loaded.

#include "convlab/judge/library_place.h"

#include <dlfcn.h>

#include "convlab/base/error.h"

namespace convlab::judge {

const link_map& place_of_library(const std::string& path) {
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  link_map* place = nullptr;
  if (handle == nullptr || ::dlinfo(handle, RTLD_DI_LINKMAP, &place) != 0) {
    const char* why = ::dlerror();
    throw bad_input("cannot load the compiled kernel file: {}", why != nullptr ? why : "no reason given");
  }
  return *place;
}

}  // namespace convlab::judge
