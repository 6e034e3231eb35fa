// Keeps cuBLAS handles and copies vectors and matrices.

#include "convlab/simt/cuda/cublas_handles.h"

#include <new>

#include "convlab/simt/cuda/runtime.h"

namespace convlab::simt::cuda {
namespace {

/// Calls use(*handle), unless the handle is null.
template <class Use>
cublasStatus_t with(cublasHandle_t handle, const Use& use) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  use(*handle);
  return CUBLAS_STATUS_SUCCESS;
}

struct Strided {
  const void* data;
  int step;
};

cublasStatus_t copy(int rows, int columns, int element_bytes, const Strided& from, const Strided& to,
                    cudaMemcpyKind kind, cudaStream_t stream, bool waits, const Where& where) {
  if (rows < 0 || columns < 0 || element_bytes <= 0 || from.step < rows || to.step < rows) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  const auto bytes = [&](int elements) { return static_cast<size_t>(elements) * static_cast<size_t>(element_bytes); };
  void* const target = const_cast<void*>(to.data);
  const auto count = static_cast<size_t>(columns);
  const cudaError_t error =
      waits ? cudaMemcpy2D(target, bytes(to.step), from.data, bytes(from.step), bytes(rows), count, kind, where)
            : cudaMemcpy2DAsync(target, bytes(to.step), from.data, bytes(from.step), bytes(rows), count, kind, stream,
                                where);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

/// A vector is a matrix with one row.
cublasStatus_t copy_vector(int count, int element_bytes, const Strided& from, const Strided& to, cudaMemcpyKind kind,
                           cudaStream_t stream, bool waits, const Where& where) {
  if (from.step < 1 || to.step < 1) return CUBLAS_STATUS_INVALID_VALUE;
  if (from.step == 1 && to.step == 1) {
    return copy(count, 1, element_bytes, {from.data, count}, {to.data, count}, kind, stream, waits, where);
  }
  return copy(1, count, element_bytes, from, to, kind, stream, waits, where);
}

}  // namespace

cublasStatus_t cublasCreate(cublasHandle_t* handle) noexcept {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new (std::nothrow) cublasContext;
  return *handle != nullptr ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) noexcept {
  return with(handle, [](cublasContext& context) { delete &context; });
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) noexcept {
  return with(handle, [=](cublasContext& context) { context.stream = stream; });
}
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) noexcept {
  return with(handle, [=](cublasContext& context) { *stream = context.stream; });
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) noexcept {
  return with(handle, [=](cublasContext& context) { context.math = mode; });
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) noexcept {
  return with(handle, [=](cublasContext& context) { *mode = context.math; });
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) noexcept {
  return with(handle, [=](cublasContext& context) { context.pointers = mode; });
}
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) noexcept {
  return with(handle, [=](cublasContext& context) { *mode = context.pointers; });
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) noexcept {
  return with(handle, [=](cublasContext& context) { context.atomics = mode; });
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) noexcept {
  return with(handle, [=](cublasContext& context) { *mode = context.atomics; });
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, size_t) noexcept {
  return with(handle, [](cublasContext&) {});
}
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version) noexcept {
  return with(handle, [=](cublasContext&) { *version = CUBLAS_VERSION; });
}
cublasStatus_t cublasGetProperty(libraryPropertyType property, int* value) noexcept {
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *value = property == MAJOR_VERSION ? CUBLAS_VER_MAJOR : 0;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) noexcept {
  switch (status) {
#define CONVLAB_SIMT_STATUS(name) \
  case name:                      \
    return #name;
    CONVLAB_SIMT_STATUS(CUBLAS_STATUS_SUCCESS)
    CONVLAB_SIMT_STATUS(CUBLAS_STATUS_NOT_INITIALIZED)
    CONVLAB_SIMT_STATUS(CUBLAS_STATUS_ALLOC_FAILED)
    CONVLAB_SIMT_STATUS(CUBLAS_STATUS_INVALID_VALUE)
    CONVLAB_SIMT_STATUS(CUBLAS_STATUS_ARCH_MISMATCH)
    CONVLAB_SIMT_STATUS(CUBLAS_STATUS_MAPPING_ERROR)
    CONVLAB_SIMT_STATUS(CUBLAS_STATUS_EXECUTION_FAILED)
    CONVLAB_SIMT_STATUS(CUBLAS_STATUS_INTERNAL_ERROR)
    CONVLAB_SIMT_STATUS(CUBLAS_STATUS_NOT_SUPPORTED)
    CONVLAB_SIMT_STATUS(CUBLAS_STATUS_LICENSE_ERROR)
#undef CONVLAB_SIMT_STATUS
  }
  return "unknown cuBLAS status";
}

const char* cublasGetStatusString(cublasStatus_t status) noexcept {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an invalid value was used as an argument";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "an absent device architectural feature is required";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "an access to GPU memory space failed";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "the GPU program failed to execute";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "an internal operation failed";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "the requested functionality is not supported";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "the license is missing";
  }
  return "unknown cuBLAS status";
}

cublasStatus_t cublasSetVector(int count, int element_bytes, const void* host, int host_step, void* device,
                               int device_step, Where where) noexcept {
  return copy_vector(count, element_bytes, {host, host_step}, {device, device_step}, cudaMemcpyHostToDevice, nullptr,
                     true, where);
}
cublasStatus_t cublasGetVector(int count, int element_bytes, const void* device, int device_step, void* host,
                               int host_step, Where where) noexcept {
  return copy_vector(count, element_bytes, {device, device_step}, {host, host_step}, cudaMemcpyDeviceToHost, nullptr,
                     true, where);
}
cublasStatus_t cublasSetMatrix(int rows, int columns, int element_bytes, const void* host, int host_leading,
                               void* device, int device_leading, Where where) noexcept {
  return copy(rows, columns, element_bytes, {host, host_leading}, {device, device_leading}, cudaMemcpyHostToDevice,
              nullptr, true, where);
}
cublasStatus_t cublasGetMatrix(int rows, int columns, int element_bytes, const void* device, int device_leading,
                               void* host, int host_leading, Where where) noexcept {
  return copy(rows, columns, element_bytes, {device, device_leading}, {host, host_leading}, cudaMemcpyDeviceToHost,
              nullptr, true, where);
}
cublasStatus_t cublasSetVectorAsync(int count, int element_bytes, const void* host, int host_step, void* device,
                                    int device_step, cudaStream_t stream, Where where) noexcept {
  return copy_vector(count, element_bytes, {host, host_step}, {device, device_step}, cudaMemcpyHostToDevice, stream,
                     false, where);
}
cublasStatus_t cublasGetVectorAsync(int count, int element_bytes, const void* device, int device_step, void* host,
                                    int host_step, cudaStream_t stream, Where where) noexcept {
  return copy_vector(count, element_bytes, {device, device_step}, {host, host_step}, cudaMemcpyDeviceToHost, stream,
                     false, where);
}
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int element_bytes, const void* host, int host_leading,
                                    void* device, int device_leading, cudaStream_t stream, Where where) noexcept {
  return copy(rows, columns, element_bytes, {host, host_leading}, {device, device_leading}, cudaMemcpyHostToDevice,
              stream, false, where);
}
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int element_bytes, const void* device, int device_leading,
                                    void* host, int host_leading, cudaStream_t stream, Where where) noexcept {
  return copy(rows, columns, element_bytes, {device, device_leading}, {host, host_leading}, cudaMemcpyDeviceToHost,
              stream, false, where);
}

}  // namespace convlab::simt::cuda
