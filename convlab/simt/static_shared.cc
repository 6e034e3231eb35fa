// Reports kernels with too much static shared memory, which ptxas rejects and the host compiler accepts.

#include "convlab/simt/static_shared.h"

#include <fmt/format.h>

#include "convlab/base/symbol.h"
#include "convlab/simt/kernel_call.h"
#include "convlab/simt/symbols.h"

namespace convlab::simt {

std::string static_shared_excess(const void* address) {
  const internal::Module& module = internal::Module::of(address);
  for (const internal::Symbol* kernel : module.kernels()) {
    const size_t bytes = module.static_shared_bytes(*kernel);
    if (bytes <= kUsualSharedBytes) continue;
    return fmt::format(
        "{}: kernel '{}' uses too much shared data ({:#x} bytes, {:#x} max); help: make the array dynamic (extern "
        "__shared__), and raise its limit with cudaFuncSetAttribute",
        module.where(reinterpret_cast<const void*>(kernel->begin + module.bias() + 1)), short_symbol(kernel->mangled),
        bytes, kUsualSharedBytes);
  }
  return "";
}

}  // namespace convlab::simt
