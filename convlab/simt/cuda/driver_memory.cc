// Allocates, copies and fills memory for the driver API.

#include "convlab/simt/cuda/driver_memory.h"

#include "convlab/simt/cuda/managed_memory.h"
#include "convlab/simt/cuda/pitched_calls.h"
#include "convlab/simt/cuda/stream_capture.h"

namespace convlab::simt::cuda {
namespace {

CUresult result_of(cudaError_t error) { return static_cast<CUresult>(error); }

void* pointer(CUdeviceptr memory) { return reinterpret_cast<void*>(static_cast<uintptr_t>(memory)); }
CUdeviceptr number(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

/// Allocates by allocate(&pointer).
template <class Allocate>
CUresult allocated(CUdeviceptr* memory, const Allocate& allocate) {
  if (memory == nullptr) return CUDA_ERROR_INVALID_VALUE;
  void* made = nullptr;
  const cudaError_t error = allocate(&made);
  if (error == cudaSuccess) *memory = number(made);
  return result_of(error);
}

CUresult fill(CUdeviceptr memory, unsigned value, unsigned element_bytes, size_t count, const Where& where) {
  if (memory % element_bytes != 0) return CUDA_ERROR_INVALID_VALUE;
  return result_of(
      runtime::fill_elements(pointer(memory), count * element_bytes, value, element_bytes, count, 1, where));
}

CUresult fill_in_stream(CUdeviceptr memory, unsigned value, unsigned element_bytes, size_t count, cudaStream_t stream,
                        const Where& where) {
  return result_of(runtime::submit(stream, cudaGraphNodeTypeMemset, [=](cudaStream_t) {
    return static_cast<cudaError_t>(fill(memory, value, element_bytes, count, where));
  }));
}

}  // namespace

CUresult convlab_mem_alloc(CUdeviceptr* memory, size_t bytes, const char* name, Where where) noexcept {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return allocated(memory, [&](void** made) { return runtime::allocate(made, bytes, name, where); });
}
CUresult cuMemAllocPitch(CUdeviceptr* memory, size_t* pitch, size_t width, size_t height, unsigned,
                         Where where) noexcept {
  return allocated(memory, [&](void** made) { return runtime::allocate_rows(made, pitch, width, height, "", where); });
}
CUresult cuMemAllocManaged(CUdeviceptr* memory, size_t bytes, unsigned, Where where) noexcept {
  return allocated(memory,
                   [&](void** made) { return runtime::allocate_on_host(made, bytes, "cudaMallocManaged", where); });
}
CUresult cuMemFree(CUdeviceptr memory, Where where) noexcept { return result_of(cudaFree(pointer(memory), where)); }
CUresult cuMemAllocHost(void** memory, size_t bytes, Where where) noexcept {
  return result_of(runtime::allocate_on_host(memory, bytes, "cuMemAllocHost", where));
}
CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned, Where where) noexcept {
  return result_of(runtime::allocate_on_host(memory, bytes, "cuMemHostAlloc", where));
}
CUresult cuMemFreeHost(void* memory, Where where) noexcept { return result_of(cudaFreeHost(memory, where)); }
CUresult cuMemHostRegister(void* memory, size_t bytes, unsigned flags, Where where) noexcept {
  return result_of(cudaHostRegister(memory, bytes, flags, where));
}
CUresult cuMemHostUnregister(void* memory, Where where) noexcept {
  return result_of(cudaHostUnregister(memory, where));
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr* device, void* host, unsigned) noexcept {
  *device = number(host);
  return CUDA_SUCCESS;
}
CUresult cuMemGetInfo(size_t* free_bytes, size_t* bytes) noexcept {
  return result_of(cudaMemGetInfo(free_bytes, bytes));
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr memory) noexcept {
  const std::optional<runtime::KnownMemory> known = runtime::known_memory(pointer(memory));
  if (!known) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = number(known->base);
  if (bytes != nullptr) *bytes = known->bytes;
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr memory) noexcept {
  cudaPointerAttributes known;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cudaError_t error = cudaPointerGetAttributes(&known, pointer(memory));
  if (error != cudaSuccess || known.type == cudaMemoryTypeUnregistered) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(value) = known.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(value) = number(known.devicePointer);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      *static_cast<void**>(value) = known.hostPointer;
      return known.hostPointer != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(value) = known.type == cudaMemoryTypeManaged;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = 0;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes, Where where) noexcept {
  return result_of(cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDefault, where));
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes, Where where) noexcept {
  return result_of(cudaMemcpy(pointer(to), from, bytes, cudaMemcpyHostToDevice, where));
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes, Where where) noexcept {
  return result_of(cudaMemcpy(to, pointer(from), bytes, cudaMemcpyDeviceToHost, where));
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes, Where where) noexcept {
  return result_of(cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, where));
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, cudaStream_t stream, Where where) noexcept {
  return result_of(cudaMemcpyAsync(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream, where));
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, cudaStream_t stream, Where where) noexcept {
  return result_of(cudaMemcpyAsync(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream, where));
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, cudaStream_t stream, Where where) noexcept {
  return result_of(cudaMemcpyAsync(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream, where));
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, cudaStream_t stream, Where where) noexcept {
  return result_of(cudaMemcpyAsync(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, stream, where));
}

CUresult cuMemsetD8(CUdeviceptr memory, unsigned char value, size_t count, Where where) noexcept {
  return fill(memory, value, 1, count, where);
}
CUresult cuMemsetD16(CUdeviceptr memory, unsigned short value, size_t count, Where where) noexcept {
  return fill(memory, value, 2, count, where);
}
CUresult cuMemsetD32(CUdeviceptr memory, unsigned value, size_t count, Where where) noexcept {
  return fill(memory, value, 4, count, where);
}
CUresult cuMemsetD8Async(CUdeviceptr memory, unsigned char value, size_t count, cudaStream_t stream,
                         Where where) noexcept {
  return fill_in_stream(memory, value, 1, count, stream, where);
}
CUresult cuMemsetD16Async(CUdeviceptr memory, unsigned short value, size_t count, cudaStream_t stream,
                          Where where) noexcept {
  return fill_in_stream(memory, value, 2, count, stream, where);
}
CUresult cuMemsetD32Async(CUdeviceptr memory, unsigned value, size_t count, cudaStream_t stream, Where where) noexcept {
  return fill_in_stream(memory, value, 4, count, stream, where);
}

}  // namespace convlab::simt::cuda
