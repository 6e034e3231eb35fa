#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/simt/ptx/ptx_run.h"
#include "convlab/simt/shadow.h"

/// How instructions access memory.
namespace convlab::simt::ptx {

/// Returns the pointer that an operand in brackets means, in the memory space that the instruction names: `in_shared`.
void* pointer_of(const Run& run, const Instruction& instruction, size_t group, bool in_shared);

/// Checks an access as one by the kernel's own code.
void check_access(const Run& run, const void* address, size_t bytes, internal::AccessKind kind);

}  // namespace convlab::simt::ptx
