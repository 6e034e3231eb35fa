#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "convlab/simt/cuda/cuda_errors.h"
#include "convlab/simt/cuda/device_calls.h"
#include "convlab/simt/cuda/memcpy_kind.h"
#include "convlab/simt/cuda/stream_capture.h"
#include "convlab/simt/cuda/streams.h"
#include "convlab/simt/launch.h"
#include "convlab/simt/vector_types.h"
#include "convlab/simt/warp.h"
#include "convlab/simt/where.h"

/// The part of the CUDA runtime API that whole programs use: memory, copies, streams, events, and device properties.
/// Kernel files are compiled with it. Work is done at submission, so streams are only names and events are timestamps.
/// Errors are CUDA's: a call returns its error, and cudaGetLastError() returns it once more. Faults of a kernel are
/// thrown as FaultError at its launch.
namespace convlab::simt {

/// Returns what cudaMalloc allocated since the last call and cudaFree did not release, as "4096 bytes of device_x
/// (cudaMalloc at mine.cu:40)"; "" if there is nothing. Each leak is reported only once.
std::string take_runtime_leaks();

namespace cuda {

inline constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                          cudaHostAllocWriteCombined = 4;
inline constexpr unsigned cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2;
inline constexpr unsigned cudaHostRegisterIoMemory = 4, cudaHostRegisterReadOnly = 8;

namespace runtime {

/// `name`: the source text of the pointer's address, which names the array in reports.
cudaError_t allocate(void** memory, size_t bytes, const char* name, Where where) noexcept;
cudaError_t allocate_on_host(void** memory, size_t bytes, const char* call, Where where) noexcept;
cudaError_t copy_to_symbol(void* symbol, size_t symbol_bytes, const void* from, size_t bytes, size_t offset,
                           Where where) noexcept;
cudaError_t copy_from_symbol(void* to, const void* symbol, size_t symbol_bytes, size_t bytes, size_t offset,
                             Where where) noexcept;

/// From now on the host may set the variable through its address.
void expose_symbol(const void* symbol, size_t bytes) noexcept;

/// Launches the kernel, or adds it to the graph that the stream is captured into. For a shape that no device can launch
/// returns an error, which is kept for cudaGetLastError() and as a FailedCall.
cudaError_t launch(const KernelCall& call, const LaunchShape& shape, cudaStream_t stream);
/// The same for a kernel from bind_kernel().
template <class Bound>
cudaError_t launch_call(Bound bound, const LaunchShape& shape, cudaStream_t stream) {
  bound.clear_gaps();
  const auto places = bound.places();
  return launch({reinterpret_cast<const void*>(bound.kernel), &Bound::invoke, &bound, sizeof(bound), places}, shape,
                stream);
}
cudaError_t raise_dynamic_limit(const void* kernel, int bytes, Where where) noexcept;
/// Returns the limit that raise_dynamic_limit() set; the usual one without the kernel's static memory otherwise.
size_t dynamic_limit_of(const void* kernel) noexcept;

/// Memory that the program has allocated or registered.
struct KnownMemory {
  enum class Kind { host, managed, device } kind{};
  const void* base = nullptr;
  size_t bytes = 0;
};
/// Returns the memory that contains the address; nullopt if no call allocated or registered it.
std::optional<KnownMemory> known_memory(const void* address) noexcept;

/// The pointer, also one to const elements, as the functions above set it.
template <class T>
void** pointer_at(T** pointer) {
  return static_cast<void**>(static_cast<void*>(pointer));
}

/// Returns the bytes of device memory that are allocated.
size_t allocated_device_bytes() noexcept;

}  // namespace runtime

// ---- Memory ----

template <class T>
cudaError_t convlab_malloc(T** memory, size_t bytes, const char* name, Where where = Where::current()) {
  return runtime::allocate(runtime::pointer_at(memory), bytes, name, where);
}
#define cudaMalloc(memory, bytes) convlab_malloc(memory, bytes, #memory)
cudaError_t cudaFree(void* memory, Where where = Where::current()) noexcept;

template <class T>
cudaError_t cudaMallocHost(T** memory, size_t bytes, unsigned = 0, Where where = Where::current()) {
  return runtime::allocate_on_host(runtime::pointer_at(memory), bytes, "cudaMallocHost", where);
}
template <class T>
cudaError_t cudaHostAlloc(T** memory, size_t bytes, unsigned = 0, Where where = Where::current()) {
  return runtime::allocate_on_host(runtime::pointer_at(memory), bytes, "cudaHostAlloc", where);
}
template <class T>
cudaError_t cudaMallocManaged(T** memory, size_t bytes, unsigned = 0, Where where = Where::current()) {
  return runtime::allocate_on_host(runtime::pointer_at(memory), bytes, "cudaMallocManaged", where);
}
/// Flags of cudaHostAlloc() have no effect: all host memory is mapped.
inline cudaError_t cudaHostGetFlags(unsigned* flags, void* memory) {
  *flags = cudaHostAllocMapped;
  const bool known = runtime::known_memory(memory).has_value();
  return known ? cudaSuccess : runtime::set_last_error(cudaErrorInvalidValue);
}
cudaError_t cudaFreeHost(void* memory, Where where = Where::current()) noexcept;
cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned flags, Where where = Where::current()) noexcept;
cudaError_t cudaHostUnregister(void* memory, Where where = Where::current()) noexcept;
/// Like cudaHostUnregister(), but not an error if the memory is not registered.
void forget_host_memory(void* memory) noexcept;
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  *device = static_cast<T*>(host);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                       Where where = Where::current()) noexcept;
/// With cudaMemcpyDefault, the addresses tell the direction.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr, Where where = Where::current()) noexcept;
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind, Where where = Where::current()) noexcept;
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr,
                              Where where = Where::current()) noexcept;
cudaError_t cudaMemset(void* memory, int byte, size_t bytes, Where where = Where::current()) noexcept;
cudaError_t cudaMemsetAsync(void* memory, int byte, size_t bytes, cudaStream_t stream = nullptr,
                            Where where = Where::current()) noexcept;

template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice, Where where = Where::current()) {
  return runtime::copy_to_symbol(const_cast<void*>(static_cast<const void*>(&symbol)), sizeof(T), from, bytes, offset,
                                 where);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                    cudaMemcpyKind = cudaMemcpyHostToDevice, cudaStream_t stream = nullptr,
                                    Where where = Where::current()) {
  return runtime::submit(stream, cudaGraphNodeTypeMemcpy, [=, &symbol](cudaStream_t) {
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, cudaMemcpyHostToDevice, where);
  });
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost, Where where = Where::current()) {
  return runtime::copy_from_symbol(to, &symbol, sizeof(T), bytes, offset, where);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind = cudaMemcpyDeviceToHost, cudaStream_t stream = nullptr,
                                      Where where = Where::current()) {
  return runtime::submit(stream, cudaGraphNodeTypeMemcpy, [=, &symbol](cudaStream_t) {
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, cudaMemcpyDeviceToHost, where);
  });
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T&) {
  *bytes = sizeof(T);
  return cudaSuccess;
}
template <class P, class T>
cudaError_t cudaGetSymbolAddress(P** address, T& symbol) {
  *address = reinterpret_cast<P*>(&symbol);
  runtime::expose_symbol(&symbol, sizeof(T));
  return cudaSuccess;
}

// ---- Launches ----

/// `<<<grid, block, shared_bytes, stream>>>`: launches the bound kernel that it is called with.
struct Configuration {
  LaunchShape shape;
  cudaStream_t stream;

  template <class Bound>
  void operator()(const Bound& bound) const {
    runtime::launch_call(bound, shape, stream);
  }
};
inline Configuration convlab_launch(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                    Where where = Where::current()) {
  return {{.grid = grid, .block = block, .shared_bytes = shared_bytes, .where = where}, stream};
}

/// The same for a kernel pointer in a variable: launches the kernel with the arguments that it is called with.
template <class Kernel>
struct Configured;
template <class... P>
struct Configured<void (*)(P...)> {
  void (*kernel)(P...);
  Configuration launch;

  void operator()(P... arguments) const { launch(bind_kernel(kernel, arguments...)); }
};
template <class... P>
Configured<void (*)(P...)> convlab_configure(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes = 0,
                                             cudaStream_t stream = nullptr, Where where = Where::current()) {
  return {kernel, convlab_launch(grid, block, shared_bytes, stream, where)};
}

/// Replaces `extern __shared__ T name[]` outside functions.
template <class T>
struct DynamicShared {
  operator T*() const { return static_cast<T*>(dynamic_shared_memory()); }
};

}  // namespace cuda
}  // namespace convlab::simt
