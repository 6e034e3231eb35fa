#pragma once

#include <cstdint>
#include <string>

#include "convlab/simt/grid.h"

namespace convlab::simt::internal {

/// Returns whether a page of this process is at the address.
bool is_mapped(uintptr_t address);

/// Describes host memory that a kernel has accessed: "w[0], which is the host stack". Returns "" if the address is, or
/// was before its release, device memory, or if its kind is unknown.
std::string describe_host_memory(const Grid& grid, uintptr_t address, int access_bytes);

}  // namespace convlab::simt::internal
