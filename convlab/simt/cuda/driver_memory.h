#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/simt/cuda/driver_errors.h"
#include "convlab/simt/cuda/runtime.h"

/// The driver API's memory.
namespace convlab::simt::cuda {

using CUdeviceptr = unsigned long long;

enum CUmemorytype {
  CU_MEMORYTYPE_HOST = 1,
  CU_MEMORYTYPE_DEVICE = 2,
  CU_MEMORYTYPE_ARRAY = 3,
  CU_MEMORYTYPE_UNIFIED = 4,
};
enum CUpointer_attribute {
  CU_POINTER_ATTRIBUTE_CONTEXT = 1,
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
  CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
  CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,
  CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
};
inline constexpr unsigned CU_MEM_ATTACH_GLOBAL = 1, CU_MEM_ATTACH_HOST = 2, CU_MEM_ATTACH_SINGLE = 4;
inline constexpr unsigned CU_MEMHOSTALLOC_PORTABLE = 1, CU_MEMHOSTALLOC_DEVICEMAP = 2,
                          CU_MEMHOSTALLOC_WRITECOMBINED = 4;
inline constexpr unsigned CU_MEMHOSTREGISTER_PORTABLE = 1, CU_MEMHOSTREGISTER_DEVICEMAP = 2;

CUresult convlab_mem_alloc(CUdeviceptr* memory, size_t bytes, const char* name,
                           Where where = Where::current()) noexcept;
#define cuMemAlloc(memory, bytes) convlab_mem_alloc(memory, bytes, #memory)
CUresult cuMemAllocPitch(CUdeviceptr* memory, size_t* pitch, size_t width, size_t height, unsigned element_bytes,
                         Where where = Where::current()) noexcept;
CUresult cuMemAllocManaged(CUdeviceptr* memory, size_t bytes, unsigned flags, Where where = Where::current()) noexcept;
CUresult cuMemFree(CUdeviceptr memory, Where where = Where::current()) noexcept;
CUresult cuMemAllocHost(void** memory, size_t bytes, Where where = Where::current()) noexcept;
CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned flags, Where where = Where::current()) noexcept;
CUresult cuMemFreeHost(void* memory, Where where = Where::current()) noexcept;
CUresult cuMemHostRegister(void* memory, size_t bytes, unsigned flags, Where where = Where::current()) noexcept;
CUresult cuMemHostUnregister(void* memory, Where where = Where::current()) noexcept;
CUresult cuMemHostGetDevicePointer(CUdeviceptr* device, void* host, unsigned flags) noexcept;
CUresult cuMemGetInfo(size_t* free_bytes, size_t* bytes) noexcept;
CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr memory) noexcept;
/// `value` has the type that the attribute has in CUDA's documentation.
CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr memory) noexcept;

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes, Where where = Where::current()) noexcept;
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes, Where where = Where::current()) noexcept;
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes, Where where = Where::current()) noexcept;
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes, Where where = Where::current()) noexcept;
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, cudaStream_t stream,
                       Where where = Where::current()) noexcept;
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, cudaStream_t stream,
                           Where where = Where::current()) noexcept;
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, cudaStream_t stream,
                           Where where = Where::current()) noexcept;
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, cudaStream_t stream,
                           Where where = Where::current()) noexcept;

/// Fill `count` elements of 1, 2 or 4 bytes.
CUresult cuMemsetD8(CUdeviceptr memory, unsigned char value, size_t count, Where where = Where::current()) noexcept;
CUresult cuMemsetD16(CUdeviceptr memory, unsigned short value, size_t count, Where where = Where::current()) noexcept;
CUresult cuMemsetD32(CUdeviceptr memory, unsigned value, size_t count, Where where = Where::current()) noexcept;
CUresult cuMemsetD8Async(CUdeviceptr memory, unsigned char value, size_t count, cudaStream_t stream,
                         Where where = Where::current()) noexcept;
CUresult cuMemsetD16Async(CUdeviceptr memory, unsigned short value, size_t count, cudaStream_t stream,
                          Where where = Where::current()) noexcept;
CUresult cuMemsetD32Async(CUdeviceptr memory, unsigned value, size_t count, cudaStream_t stream,
                          Where where = Where::current()) noexcept;

}  // namespace convlab::simt::cuda
