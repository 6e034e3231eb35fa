#pragma once

#include <cstddef>

#include "convlab/simt/symbols.h"

/// What the program's symbols tell about kernels.
namespace convlab::simt::cuda::runtime {

/// Returns the symbol of a function; nullptr if there is none.
const simt::internal::Symbol* symbol_of(const void* function) noexcept;

/// Returns the static shared memory of a kernel, in bytes.
size_t static_shared_of(const void* kernel) noexcept;
bool is_kernel(const void* function) noexcept;

}  // namespace convlab::simt::cuda::runtime
