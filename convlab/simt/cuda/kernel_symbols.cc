// Looks kernels up in the program's symbols.

#include "convlab/simt/cuda/kernel_symbols.h"

#include <algorithm>
#include <exception>

namespace convlab::simt::cuda::runtime {

const simt::internal::Symbol* symbol_of(const void* function) noexcept {
  try {
    return simt::internal::Module::of(function).function_at(reinterpret_cast<uintptr_t>(function));
  } catch (const std::exception&) {  // the address is in no module
    return nullptr;
  }
}

size_t static_shared_of(const void* kernel) noexcept {
  const simt::internal::Symbol* const symbol = symbol_of(kernel);
  return symbol == nullptr ? 0 : simt::internal::Module::of(kernel).static_shared_bytes(*symbol);
}

bool is_kernel(const void* function) noexcept {
  const simt::internal::Symbol* const symbol = symbol_of(function);
  if (symbol == nullptr) return false;
  const auto& kernels = simt::internal::Module::of(function).kernels();
  return std::ranges::find(kernels, symbol) != kernels.end();
}

}  // namespace convlab::simt::cuda::runtime
