#pragma once

#include <cstddef>

/// Arrays of the host whose sizes we know: what a kernel file's host code allocates (its malloc, new and their
/// relatives come here: see convlab/kernel_file/compiler.cc), and what it is given. cudaMemcpy() beyond their ends
/// breaks the heap on a real machine.
namespace convlab::simt {

void remember_host_array(const void* array, size_t bytes);
void forget_host_array(const void* array);

/// malloc() and free(), with what we know of the array.
void* allocate_host_array(size_t bytes);
void release_host_array(void* array);

/// How many bytes there are from this address to the end of its array; SIZE_MAX where no array is known.
size_t host_room(const void* address);

}  // namespace convlab::simt
