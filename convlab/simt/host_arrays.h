#pragma once

#include <cstddef>

/// Host arrays of known size: those that a kernel file's host code allocates (its malloc, new and related functions are
/// redirected here: see convlab/kernel_file/compiler.cc), and those passed to it. On a real machine, a cudaMemcpy()
/// beyond their ends corrupts the heap.
namespace convlab::simt {

void remember_host_array(const void* array, size_t bytes);
void forget_host_array(const void* array);

/// malloc() and free() that record the array's size.
void* allocate_host_array(size_t bytes);
void release_host_array(void* array);

/// Returns the number of bytes from this address to the end of its array; SIZE_MAX if no array is known there.
size_t host_room(const void* address);

}  // namespace convlab::simt
