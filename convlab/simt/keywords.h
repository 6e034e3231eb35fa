#pragma once

/// CUDA's keywords, for a host compiler. A kernel becomes a plain function, which one fiber a CUDA thread runs; the
/// file's loads and stores reach hooks.cc because it is compiled with the flags of convlab_simt_kernel_options.

#define __host__
#define __device__
#define __global__ __attribute__((noinline))
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))

/// One copy a worker thread, and a worker runs one block at a time. `used`: without it the compiler would take an array
/// that nothing writes for zeros, and an uninitialised read would never be seen. `constinit`: without it g++ guards
/// arrays of classes (__half) with a flag of its own, which is no access of the kernel's; clang has no such flag and
/// refuses.
#ifdef __clang__
#define __shared__ __attribute__((used)) static thread_local
#else
#define __shared__ __attribute__((used)) constinit static thread_local
#endif
