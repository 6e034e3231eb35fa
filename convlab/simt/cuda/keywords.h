#pragma once

/// CUDA's keywords for a host compiler. A kernel becomes a plain function, which one fiber per CUDA thread runs. The
/// file's loads and stores reach hooks.cc because it is compiled with the flags of convlab_simt_kernel_options.

#define __host__
#define __device__

/// The patchable entry is a nop. It makes the compiler list the function's address in a section of its own, which tells
/// simt which functions of a program are kernels. A launch calls through a pointer, so a direct call is one without
/// <<<...>>>: the error has nvcc's text.
#ifdef CONVLAB_SIMT_UNCHECKED  // KnownKernel calls it directly
#define __global__ __attribute__((patchable_function_entry(1)))
#else
#define __global__ \
  __attribute__((noinline, patchable_function_entry(1), error("a __global__ function call must be configured")))
#endif

#define __constant__

/// Host and device have one variable, so it is in neither's section.
#define __managed__ __attribute__((section("convlab_managed")))
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))

/// One copy per worker thread, and a worker runs one block at a time. `used`: otherwise the compiler would replace an
/// array that nothing writes by zeros, and uninitialized reads would go undetected. `constinit`: otherwise g++ guards
/// arrays of classes (__half) with a flag, whose accesses are not the kernel's; clang has no such flag and rejects
/// `constinit` here. The alignment keeps two arrays from sharing a word or the span of one access, and it suffices for
/// wmma, as nvcc's own layout does.
#ifdef __clang__
#define __shared__ __attribute__((used, aligned(32))) static thread_local
#else
#define __shared__ __attribute__((used, aligned(32))) constinit static thread_local
#endif
