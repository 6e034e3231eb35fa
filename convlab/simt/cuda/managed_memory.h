#pragma once

#include <cstddef>

#include "convlab/simt/cuda/device_calls.h"
#include "convlab/simt/cuda/runtime.h"

/// Managed memory, and what is known about an address. Host and device share one memory here, so advice and prefetches
/// move nothing; their arguments are checked.
namespace convlab::simt::cuda {

inline constexpr unsigned cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4;

enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) noexcept;

/// Free memory is the device's, or what this process may use if that is less, without what is allocated.
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* bytes) noexcept;

enum cudaMemLocationType {
  cudaMemLocationTypeInvalid = 0,
  cudaMemLocationTypeNone = 0,
  cudaMemLocationTypeDevice = 1,
  cudaMemLocationTypeHost = 2,
  cudaMemLocationTypeHostNuma = 3,
  cudaMemLocationTypeHostNumaCurrent = 4,
};
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3,
  cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5,
  cudaMemAdviseUnsetAccessedBy = 6,
};
/// As since CUDA 13, and as before: `device` is 0 or cudaCpuDeviceId.
cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location,
                          Where where = Where::current()) noexcept;
cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise advice, int device,
                          Where where = Where::current()) noexcept;
cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream = nullptr, Where where = Where::current()) noexcept;
cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, int device, cudaStream_t stream = nullptr,
                                 Where where = Where::current()) noexcept;

/// The host may use the memory only when the stream's work is done, as before.
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, const void*, size_t = 0, unsigned = cudaMemAttachSingle) {
  return cudaSuccess;
}

}  // namespace convlab::simt::cuda
