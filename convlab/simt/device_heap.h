#pragma once

#include <cstddef>

/// The device heap: malloc() and free(), new and delete in the kernels of a kernel file. Allocations persist across
/// launches until a kernel frees them. Host code of the same file allocates host memory.
namespace convlab::simt {

/// Sets the size of the device heap; it has an effect only before the first allocation. The default is 8 MiB, as in
/// CUDA.
void set_device_heap_bytes(size_t bytes);

}  // namespace convlab::simt
