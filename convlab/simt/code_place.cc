// Finds the source line of the calling thread in a loaded library.

#include "convlab/simt/code_place.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <array>

#include "convlab/simt/worker.h"

namespace convlab::simt {

std::string place_in_library(const std::string& library) {
  if (internal::active_worker != nullptr) return "";
  std::array<void*, 128> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    const void* const code = frames[static_cast<size_t>(i)];
    if (::dladdr(code, &info) == 0 || info.dli_fname == nullptr || library != info.dli_fname) continue;
    return internal::Module::of(code).where(code);
  }
  return "";
}

}  // namespace convlab::simt
