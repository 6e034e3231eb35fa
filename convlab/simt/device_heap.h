#pragma once

#include <cstddef>

/// The memory from which kernels allocate: malloc() and free(), new and delete in a kernel's file. It is the device's,
/// and lasts from launch to launch until a kernel frees it. Host code of the same file gets the host's memory.
namespace convlab::simt {

/// How much there is; it counts before the first allocation. 8 MiB, as in CUDA, unless set.
void set_device_heap_bytes(size_t bytes);

}  // namespace convlab::simt
