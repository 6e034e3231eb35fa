#pragma once

#include <cstddef>

#include "convlab/simt/cuda/complex_numbers.h"
#include "convlab/simt/cuda/data_types.h"
#include "convlab/simt/cuda/streams.h"
#include "convlab/simt/where.h"

/// cuBLAS' types, handles and settings, and its copies of vectors and matrices. Calls are checked as convlab/simt/cuda/
/// library_call.h says. Math modes, workspaces and atomics modes have no effect: results are those of double precision,
/// rounded once.
///
/// Not supported: functions with 64-bit sizes (cublasSgemm_64), cublasXt, device-side handles, logging.
namespace convlab::simt::cuda {

/// The include guards of cuBLAS: helper_cuda.h of NVIDIA's samples asks for them.
#define CUBLAS_API_H_
#define CUBLAS_V2_H_

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION 130000

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16,
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C, CUBLAS_OP_HERMITAN = 2, CUBLAS_OP_CONJG = 3 };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
enum cublasAtomicsMode_t { CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED };
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
};
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
};
/// Names the products; their order has no effect.
enum cublasGemmAlgo_t {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_ALGO0 = 0,
  CUBLAS_GEMM_ALGO23 = 23,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
  CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
  CUBLAS_GEMM_ALGO15_TENSOR_OP = 115,
};
using cublasDataType_t = cudaDataType;

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
};
using cublasHandle_t = cublasContext*;

cublasStatus_t cublasCreate(cublasHandle_t* handle) noexcept;
cublasStatus_t cublasDestroy(cublasHandle_t handle) noexcept;
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) noexcept;
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) noexcept;
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) noexcept;
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) noexcept;
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) noexcept;
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) noexcept;
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) noexcept;
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) noexcept;
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes) noexcept;
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version) noexcept;
cublasStatus_t cublasGetProperty(libraryPropertyType property, int* value) noexcept;
const char* cublasGetStatusName(cublasStatus_t status) noexcept;
const char* cublasGetStatusString(cublasStatus_t status) noexcept;

#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasSetStream_v2 cublasSetStream

/// Copy vectors and matrices between host (first for Set, last for Get) and device.
cublasStatus_t cublasSetVector(int count, int element_bytes, const void* host, int host_step, void* device,
                               int device_step, Where where = Where::current()) noexcept;
cublasStatus_t cublasGetVector(int count, int element_bytes, const void* device, int device_step, void* host,
                               int host_step, Where where = Where::current()) noexcept;
cublasStatus_t cublasSetMatrix(int rows, int columns, int element_bytes, const void* host, int host_leading,
                               void* device, int device_leading, Where where = Where::current()) noexcept;
cublasStatus_t cublasGetMatrix(int rows, int columns, int element_bytes, const void* device, int device_leading,
                               void* host, int host_leading, Where where = Where::current()) noexcept;
cublasStatus_t cublasSetVectorAsync(int count, int element_bytes, const void* host, int host_step, void* device,
                                    int device_step, cudaStream_t stream, Where where = Where::current()) noexcept;
cublasStatus_t cublasGetVectorAsync(int count, int element_bytes, const void* device, int device_step, void* host,
                                    int host_step, cudaStream_t stream, Where where = Where::current()) noexcept;
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int element_bytes, const void* host, int host_leading,
                                    void* device, int device_leading, cudaStream_t stream,
                                    Where where = Where::current()) noexcept;
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int element_bytes, const void* device, int device_leading,
                                    void* host, int host_leading, cudaStream_t stream,
                                    Where where = Where::current()) noexcept;

namespace runtime {

/// One call of a function with this name. The type is that of its arrays.
struct BlasCall {
  cublasHandle_t handle = nullptr;
  const char* name = "";
  cudaDataType type = CUDA_R_32F;
  Where where;
};

}  // namespace runtime

}  // namespace convlab::simt::cuda
