#pragma once

#include "convlab/simt/cuda/cuda_half.h"
#include "convlab/simt/cuda/runtime.h"
#include "convlab/simt/product.h"

/// The part of cuBLAS that kernel files use: matrix products, computed immediately (convlab/simt/product.h).
namespace convlab::simt::cuda {

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_INVALID_VALUE = 7,
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasMath_t { CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH, CUBLAS_TF32_TENSOR_OP_MATH };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_16F = 2 };
using cudaDataType = cudaDataType_t;
enum cublasComputeType_t { CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };

struct BlasContext {
  cudaStream_t stream = nullptr;
};
using cublasHandle_t = BlasContext*;

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new BlasContext;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t) { return CUBLAS_STATUS_SUCCESS; }

namespace runtime {

/// Reports an invalid product, or memory outside the device's arrays, as an error of the call.
cublasStatus_t multiply(cublasHandle_t handle, int m, int n, int k, float alpha, const ProductMatrix& a,
                        const ProductMatrix& b, float beta, const ProductMatrix& c, int count, Where where) noexcept;

}  // namespace runtime

inline cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                                cublasOperation_t transb, int m, int n, int k, const float* alpha,
                                                const float* a, int lda, long long stride_a, const float* b, int ldb,
                                                long long stride_b, const float* beta, float* c, int ldc,
                                                long long stride_c, int count, Where where = Where::current()) {
  return runtime::multiply(handle, m, n, k, *alpha, {a, lda, stride_a, transa != CUBLAS_OP_N, false},
                           {b, ldb, stride_b, transb != CUBLAS_OP_N, false}, *beta, {c, ldc, stride_c, false, false},
                           count, where);
}
inline cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                                  const float* beta, float* c, int ldc, Where where = Where::current()) {
  return cublasSgemmStridedBatched(handle, transa, transb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1,
                                   where);
}
inline cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const __half* alpha, const __half* a, int lda, const __half* b, int ldb,
                                  const __half* beta, __half* c, int ldc, Where where = Where::current()) {
  return runtime::multiply(handle, m, n, k, *alpha, {a, lda, 0, transa != CUBLAS_OP_N, true},
                           {b, ldb, 0, transb != CUBLAS_OP_N, true}, *beta, {c, ldc, 0, false, true}, 1, where);
}
/// alpha and beta are float, as CUBLAS_COMPUTE_32F and its variants require.
inline cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                                 cublasOperation_t transb, int m, int n, int k, const void* alpha,
                                                 const void* a, cudaDataType_t type_a, int lda, long long stride_a,
                                                 const void* b, cudaDataType_t type_b, int ldb, long long stride_b,
                                                 const void* beta, void* c, cudaDataType_t type_c, int ldc,
                                                 long long stride_c, int count, cublasComputeType_t, cublasGemmAlgo_t,
                                                 Where where = Where::current()) {
  return runtime::multiply(handle, m, n, k, *static_cast<const float*>(alpha),
                           {a, lda, stride_a, transa != CUBLAS_OP_N, type_a == CUDA_R_16F},
                           {b, ldb, stride_b, transb != CUBLAS_OP_N, type_b == CUDA_R_16F},
                           *static_cast<const float*>(beta), {c, ldc, stride_c, false, type_c == CUDA_R_16F}, count,
                           where);
}
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* a, cudaDataType_t type_a, int lda,
                                   const void* b, cudaDataType_t type_b, int ldb, const void* beta, void* c,
                                   cudaDataType_t type_c, int ldc, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm, Where where = Where::current()) {
  return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0, beta,
                                    c, type_c, ldc, 0, 1, compute, algorithm, where);
}

}  // namespace convlab::simt::cuda
