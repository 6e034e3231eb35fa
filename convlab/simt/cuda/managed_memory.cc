// Answers what memory an address is in, and checks advice about managed memory.

#include "convlab/simt/cuda/managed_memory.h"

#include <algorithm>

#include "convlab/base/limits.h"
#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/cuda/copy_checks.h"

namespace convlab::simt::cuda {
namespace {

using Kind = runtime::KnownMemory::Kind;

/// Returns the error of a call for managed memory only. Memory of an unknown kind may be a __managed__ variable.
cudaError_t managed_error(const void* memory, size_t bytes, const char* call, const Where& where) {
  const std::optional<runtime::KnownMemory> known = runtime::known_memory(memory);
  if (memory == nullptr || bytes == 0) {
    return failed(cudaErrorInvalidValue, call, where, "the pointer is null or the size is 0");
  }
  if (known && known->kind != Kind::managed) {
    return failed(cudaErrorInvalidValue, call, where, "the memory is not managed: allocate it with cudaMallocManaged");
  }
  const size_t offset =
      known ? static_cast<size_t>(static_cast<const char*>(memory) - static_cast<const char*>(known->base)) : 0;
  if (known && bytes > known->bytes - offset) {
    return failed(cudaErrorInvalidValue, call, where, "the bytes go past the end of the array");
  }
  return cudaSuccess;
}

bool exists(int device) { return device == 0 || device == cudaCpuDeviceId; }

cudaError_t device_error(int device, const char* call, const Where& where) {
  return exists(device) ? cudaSuccess
                        : failed(cudaErrorInvalidDevice, call, where, "the device must be 0 or cudaCpuDeviceId");
}

int device_of(cudaMemLocation location) {
  return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
}

}  // namespace

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) noexcept {
  if (attributes == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  void* const address = const_cast<void*>(memory);
  *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, address};
  if (side_of(memory, 1) == Side::device) *attributes = {cudaMemoryTypeDevice, 0, address, nullptr};
  const std::optional<runtime::KnownMemory> known = runtime::known_memory(memory);
  if (!known || known->kind == Kind::device) return cudaSuccess;
  *attributes = {known->kind == Kind::managed ? cudaMemoryTypeManaged : cudaMemoryTypeHost, 0, address, address};
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* bytes) noexcept {
  cudaDeviceProp properties;
  if (free_bytes == nullptr || bytes == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, 0); error != cudaSuccess) return error;
  const size_t allocated = runtime::allocated_device_bytes();
  const size_t usable = std::min(properties.totalGlobalMem, static_cast<size_t>(usable_memory_bytes()));
  *bytes = properties.totalGlobalMem;
  *free_bytes = usable - std::min(usable, allocated);
  return cudaSuccess;
}

cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location,
                          Where where) noexcept {
  return cudaMemAdvise(memory, bytes, advice, device_of(location), where);
}
cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise advice, int device, Where where) noexcept {
  const cudaError_t error = managed_error(memory, bytes, "cudaMemAdvise", where);
  const bool names_device = advice == cudaMemAdviseSetPreferredLocation || advice == cudaMemAdviseSetAccessedBy ||
                            advice == cudaMemAdviseUnsetAccessedBy;
  if (error != cudaSuccess || !names_device) return error;
  return device_error(device, "cudaMemAdvise", where);
}

cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, cudaMemLocation location, unsigned,
                                 cudaStream_t stream, Where where) noexcept {
  return cudaMemPrefetchAsync(memory, bytes, device_of(location), stream, where);
}
cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, int device, cudaStream_t, Where where) noexcept {
  const cudaError_t error = managed_error(memory, bytes, "cudaMemPrefetchAsync", where);
  return error != cudaSuccess ? error : device_error(device, "cudaMemPrefetchAsync", where);
}

}  // namespace convlab::simt::cuda
