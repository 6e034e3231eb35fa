#pragma once

/// CUDA's keywords, for a host compiler. A kernel becomes a plain function, which one fiber per CUDA thread runs; the
/// file's loads and stores reach hooks.cc because it is compiled with the flags of convlab_simt_kernel_options.

#define __host__
#define __device__

/// The patchable entry is a nop. What counts: the compiler lists the addresses of functions that have one in a section
/// of their own, which tells simt which functions of a program are kernels. A launch goes through a pointer, so that a
/// call by name is one without <<<...>>>; nvcc has the same words for it.
#define __global__ \
  __attribute__((noinline, patchable_function_entry(1), error("a __global__ function call must be configured")))

#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))

/// One copy per worker thread, and a worker runs one block at a time. `used`: without it the compiler would take an
/// array that nothing writes for zeros, and nobody would see an uninitialized read. `constinit`: without it g++ guards
/// arrays of classes (__half) with a flag of its own, whose accesses are not the kernel's; clang has no such flag and
/// refuses. The alignment keeps two arrays from sharing a word, or anything that one access reaches,
/// and suffices for wmma, as it does where nvcc lays out the arrays.
#ifdef __clang__
#define __shared__ __attribute__((used, aligned(32))) static thread_local
#else
#define __shared__ __attribute__((used, aligned(32))) constinit static thread_local
#endif
