#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/simt/shadow.h"

/// Separates host and device memory, like a GPU's MMU: host code must not access device memory, nor kernels host
/// memory.
namespace convlab::simt::internal {

/// Checks an access by the host code of a kernel file. If it touches device memory, take_host_faults() returns the
/// fault. The code continues, because nothing can end it here.
void on_host_access(uintptr_t address, size_t bytes, AccessKind kind, const void* code);

}  // namespace convlab::simt::internal
