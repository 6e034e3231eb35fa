#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Finds thread-local variables in machine code of x86-64 and AArch64. On other processors nothing is found.
namespace convlab::simt::internal {

/// Returns this OS thread's thread pointer, from which code addresses thread-local variables; 0 on other processors.
uintptr_t thread_pointer();

/// Whether the code reads the thread pointer.
bool reads_thread_pointer(const void* code, size_t bytes);

/// Returns each number in the code that may be a thread-local variable's distance from the thread pointer. Some only
/// look like one.
std::vector<int64_t> thread_local_distances(const void* code, size_t bytes);

}  // namespace convlab::simt::internal
