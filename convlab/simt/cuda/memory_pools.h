#pragma once

#include <cstddef>

#include "convlab/simt/cuda/managed_memory.h"
#include "convlab/simt/cuda/runtime.h"

/// Stream-ordered allocation and memory pools. A pool only counts: memory comes from the device and returns to it when
/// it is freed, so that accesses after cudaFreeAsync() are found.
namespace convlab::simt::cuda {

struct CUmemPoolHandle_st;
using cudaMemPool_t = CUmemPoolHandle_st*;

enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8,
};
enum cudaMemAllocationType {
  cudaMemAllocationTypeInvalid = 0,
  cudaMemAllocationTypePinned = 1,
  cudaMemAllocationTypeManaged = 2,
};
enum cudaMemAllocationHandleType {
  cudaMemHandleTypeNone = 0,
  cudaMemHandleTypePosixFileDescriptor = 1,
  cudaMemHandleTypeWin32 = 2,
  cudaMemHandleTypeWin32Kmt = 4,
  cudaMemHandleTypeFabric = 8,
};
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;  ///< must be cudaMemHandleTypeNone
  cudaMemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};
enum cudaMemAccessFlags {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3,
};
struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
};

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) noexcept;
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) noexcept;
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) noexcept;
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties,
                              Where where = Where::current()) noexcept;
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) noexcept;
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) noexcept;
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) noexcept;
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) noexcept;
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count) noexcept;
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) noexcept;

namespace runtime {

/// Allocates from a pool; nullptr: the device's current one. In a captured stream, memory is allocated at the capture,
/// and each launch of the graph uses it.
cudaError_t allocate_from(cudaMemPool_t pool, void** memory, size_t bytes, cudaStream_t stream, const char* name,
                          Where where) noexcept;

}  // namespace runtime

template <class T>
cudaError_t convlab_malloc_async(const char* name, T** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                                 Where where = Where::current()) {
  return runtime::allocate_from(pool, runtime::pointer_at(memory), bytes, stream, name, where);
}
template <class T>
cudaError_t convlab_malloc_async(const char* name, T** memory, size_t bytes, cudaStream_t stream,
                                 Where where = Where::current()) {
  return runtime::allocate_from(nullptr, runtime::pointer_at(memory), bytes, stream, name, where);
}
#define cudaMallocAsync(memory, ...) convlab_malloc_async(#memory, memory, __VA_ARGS__)
#define cudaMallocFromPoolAsync(memory, bytes, pool, stream) convlab_malloc_async(#memory, memory, bytes, pool, stream)

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream, Where where = Where::current()) noexcept;

}  // namespace convlab::simt::cuda
