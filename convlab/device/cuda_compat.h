#pragma once

/// Every kernel file includes this. The same CUDA C++ source is compiled twice: by nvcc for the GPU, and by a host
/// compiler with convlab/simt instead of CUDA. Besides CUDA's own names, kernel files use these:
///
///   launch(kernel, {.grid = {x, y, z}, .block = {x, y, z}, .shared_bytes = n}, stream, arguments...)
///   copy_to_constant(symbol, source, bytes, stream)    fills a __constant__ array, in stream order
///   wait_for_launch_before()                           in a kernel launched with .early = true: see LaunchShape
///   fill_bytes(memory, byte, bytes, stream)            cudaMemsetAsync
///   copy_bytes(to, from, bytes, stream)                cudaMemcpyAsync between device addresses
///   dynamic_shared<T>()                                in a kernel: the launch's dynamic shared memory, 128-byte
///   aligned kSimt                                              whether this is the host version kCompiledFor the
///   DeviceKind of this version, for the registration
///
/// A `stream` is the result of Stream::native().
///
/// Kernel files define everything in an anonymous namespace, and headers define device functions in
/// CONVLAB_KERNEL_NAMESPACE: both versions are linked into one program, where equal names would violate the one
/// definition rule.

#ifdef __CUDACC__

#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>
#include <cxxabi.h>
#include <mma.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/device/cuda_check.h"
#include "convlab/device/device.h"

static_assert(__cplusplus >= 202002L, "compile with nvcc -std=c++20; see cmake/cuda.cmake");

#define CONVLAB_KERNEL_NAMESPACE for_gpu

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

inline constexpr bool kSimt = false;
inline constexpr DeviceKind kCompiledFor = DeviceKind::cuda;

/// See simt/launch.h. 64-bit, so that a size too large for the device is an error and does not wrap around.
struct LaunchExtent {
  int64_t x = 1, y = 1, z = 1;
  constexpr LaunchExtent(int64_t x_ = 1, int64_t y_ = 1, int64_t z_ = 1) : x(x_), y(y_), z(z_) {}
  LaunchExtent(dim3 d) : x(d.x), y(d.y), z(d.z) {}
};

struct LaunchShape {
  LaunchExtent grid, block;
  size_t shared_bytes = 0;
  bool early = false;
};

inline std::string kernel_name(const void* kernel) {
#if CUDART_VERSION >= 12030
  const char* mangled = nullptr;
  if (cudaFuncGetName(&mangled, kernel) == cudaSuccess && mangled) {
    int status = 0;
    char* demangled = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    const std::string name = demangled ? demangled : mangled;
    std::free(demangled);
    return name;
  }
  cudaGetLastError();
#endif
  return "a kernel";
}

inline dim3 checked_extent(const LaunchExtent& e, const void* kernel) {
  const int64_t limit = int64_t{1} << 31;
  if (e.x < 1 || e.y < 1 || e.z < 1 || e.x >= limit || e.y >= limit || e.z >= limit) {
    throw Error(ErrorKind::bad_input, kernel_name(kernel) + ": invalid launch dimensions " + std::to_string(e.x) +
                                          " x " + std::to_string(e.y) + " x " + std::to_string(e.z));
  }
  return dim3(static_cast<unsigned>(e.x), static_cast<unsigned>(e.y), static_cast<unsigned>(e.z));
}

/// Whether the current device runs code of this kernel for compute capability 9.0 or higher. Code that the driver
/// compiles from PTX for 8.0 has neither clusters nor wait_for_launch_before().
inline bool has_code_of_9_0(const void* kernel) {
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "reading kernel attributes");
  return attributes.ptxVersion >= 90;
}

/// Launches a kernel and checks the launch; errors inside the kernel are reported when the stream is synchronized.
template <class... P, class... A>
void launch(void (*kernel)(P...), const LaunchShape& shape, void* stream, A&&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "a launch needs one argument for each kernel parameter");
  const void* function = reinterpret_cast<const void*>(kernel);
  constexpr size_t kWithoutOptIn = 48 * 1024;
  if (shape.shared_bytes > kWithoutOptIn) {
    const cudaError_t status = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                    static_cast<int>(shape.shared_bytes));
    if (status != cudaSuccess) {
      check_cuda(status,
                 kernel_name(function) + " with " + std::to_string(shape.shared_bytes) + " bytes of shared memory");
    }
  }
  std::tuple<P...> parameters(std::forward<A>(args)...);
  cudaLaunchConfig_t config{};
  config.gridDim = checked_extent(shape.grid, function);
  config.blockDim = checked_extent(shape.block, function);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &early;
  config.numAttrs = shape.early && has_code_of_9_0(function) ? 1 : 0;
  const cudaError_t status = std::apply(
      [&](auto&... parameter) {
        void* addresses[] = {static_cast<void*>(&parameter)..., nullptr};
        return cudaLaunchKernelExC(&config, function, addresses);
      },
      parameters);
  if (status != cudaSuccess) check_cuda(status, "launching " + kernel_name(function));
}

template <class T>
void copy_to_constant(T& symbol, const void* from, size_t bytes, void* stream, size_t offset = 0) {
  check_cuda(cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, cudaMemcpyDefault, static_cast<cudaStream_t>(stream)),
             "copying to constant memory");
}

inline void fill_bytes(void* memory, int byte, size_t bytes, void* stream) {
  check_cuda(cudaMemsetAsync(memory, byte, bytes, static_cast<cudaStream_t>(stream)), "filling device memory");
}

inline void copy_bytes(void* to, const void* from, size_t bytes, void* stream) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)),
             "copying device memory");
}

__device__ __forceinline__ void wait_for_launch_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char convlab_dynamic_shared[];
  return reinterpret_cast<T*>(convlab_dynamic_shared);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#else  // a host compiler

#include <cstddef>
#include <utility>

#include "convlab/device/device.h"
#include "convlab/simt/cuda/cuda_on_host.h"

#define CONVLAB_KERNEL_NAMESPACE for_simt

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

inline constexpr bool kSimt = true;
inline constexpr DeviceKind kCompiledFor = DeviceKind::simt;

using simt::LaunchExtent;
using simt::LaunchShape;

/// Runs the grid and returns when it is done. Throws simt::FaultError if the kernel violates CUDA's rules.
template <class... P, class... A>
void launch(void (*kernel)(P...), const LaunchShape& shape, void*, A&&... args) {
  simt::launch_kernel(kernel, shape, std::forward<A>(args)...);
}

inline void wait_for_launch_before() {}

template <class T>
void copy_to_constant(T& symbol, const void* from, size_t bytes, void*, size_t offset = 0) {
  simt::copy_to_symbol(&symbol, sizeof(T), from, bytes, offset);
}

inline void fill_bytes(void* memory, int byte, size_t bytes, void*) { simt::fill_on_device(memory, byte, bytes); }

inline void copy_bytes(void* to, const void* from, size_t bytes, void*) { simt::copy_on_device(to, from, bytes); }

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(simt::dynamic_shared_memory());
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif
