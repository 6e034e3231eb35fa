#pragma once

#include "convlab/simt/cuda/cublas_handles.h"
#include "convlab/simt/cuda/cuda_half.h"

/// Matrix products of cuBLAS, of all types: one, strided batches, and batches by arrays of pointers.
namespace convlab::simt::cuda {

namespace runtime {

/// A matrix of each product: at data + i * stride, or, for batches by pointers, at the address in device memory at
/// pointers + i.
struct BlasOperand {
  const void* data = nullptr;
  cudaDataType type = CUDA_R_32F;
  int leading = 0;
  long long stride = 0;
  const void* pointers = nullptr;
};

/// count times C = alpha op(A) op(B) + beta C.
struct BlasProduct {
  cublasOperation_t op_a, op_b;
  int m, n, k, count;
  const void *alpha, *beta;
  cudaDataType factor_type;
  BlasOperand a, b, c;
};

cublasStatus_t multiply(const BlasCall& call, const BlasProduct& product) noexcept;

/// Returns the type of alpha and beta for a compute type and the type of C.
cudaDataType factor_type(cublasComputeType_t compute, cudaDataType c) noexcept;
/// For the interface before CUDA 11, in which the compute type is a type of elements.
constexpr cudaDataType factor_type(cudaDataType compute, cudaDataType) noexcept { return compute; }

}  // namespace runtime

#define CONVLAB_SIMT_CUBLAS_GEMM(X, T, type)                                                                           \
  inline cublasStatus_t cublas##X##gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,     \
                                        int m, int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb, \
                                        const T* beta, T* c, int ldc, Where where = Where::current()) {                \
    return runtime::multiply(                                                                                          \
        {handle, "cublas" #X "gemm", type, where},                                                                     \
        {transa, transb, m, n, k, 1, alpha, beta, type, {a, type, lda}, {b, type, ldb}, {c, type, ldc}});              \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##gemmStridedBatched(                                                                 \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T* alpha,  \
      const T* a, int lda, long long stride_a, const T* b, int ldb, long long stride_b, const T* beta, T* c, int ldc,  \
      long long stride_c, int count, Where where = Where::current()) {                                                 \
    return runtime::multiply({handle, "cublas" #X "gemmStridedBatched", type, where}, {transa,                         \
                                                                                       transb,                         \
                                                                                       m,                              \
                                                                                       n,                              \
                                                                                       k,                              \
                                                                                       count,                          \
                                                                                       alpha,                          \
                                                                                       beta,                           \
                                                                                       type,                           \
                                                                                       {a, type, lda, stride_a},       \
                                                                                       {b, type, ldb, stride_b},       \
                                                                                       {c, type, ldc, stride_c}});     \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##gemmBatched(                                                                        \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T* alpha,  \
      const T* const a[], int lda, const T* const b[], int ldb, const T* beta, T* const c[], int ldc, int count,       \
      Where where = Where::current()) {                                                                                \
    return runtime::multiply({handle, "cublas" #X "gemmBatched", type, where}, {transa,                                \
                                                                                transb,                                \
                                                                                m,                                     \
                                                                                n,                                     \
                                                                                k,                                     \
                                                                                count,                                 \
                                                                                alpha,                                 \
                                                                                beta,                                  \
                                                                                type,                                  \
                                                                                {nullptr, type, lda, 0, a},            \
                                                                                {nullptr, type, ldb, 0, b},            \
                                                                                {nullptr, type, ldc, 0, c}});          \
  }
CONVLAB_SIMT_CUBLAS_GEMM(S, float, CUDA_R_32F)
CONVLAB_SIMT_CUBLAS_GEMM(D, double, CUDA_R_64F)
CONVLAB_SIMT_CUBLAS_GEMM(C, cuComplex, CUDA_C_32F)
CONVLAB_SIMT_CUBLAS_GEMM(Z, cuDoubleComplex, CUDA_C_64F)
CONVLAB_SIMT_CUBLAS_GEMM(H, __half, CUDA_R_16F)
#undef CONVLAB_SIMT_CUBLAS_GEMM

#define cublasSgemm_v2 cublasSgemm
#define cublasDgemm_v2 cublasDgemm
#define cublasCgemm_v2 cublasCgemm
#define cublasZgemm_v2 cublasZgemm

/// Compute is a cublasComputeType_t or, in the interface before CUDA 11, a cudaDataType. Algo has no effect.
template <class Compute>
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void* alpha, const void* a, cudaDataType type_a, int lda, const void* b,
                            cudaDataType type_b, int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                            Compute compute, cublasGemmAlgo_t, Where where = Where::current()) {
  return runtime::multiply({handle, "cublasGemmEx", type_c, where}, {transa,
                                                                     transb,
                                                                     m,
                                                                     n,
                                                                     k,
                                                                     1,
                                                                     alpha,
                                                                     beta,
                                                                     runtime::factor_type(compute, type_c),
                                                                     {a, type_a, lda},
                                                                     {b, type_b, ldb},
                                                                     {c, type_c, ldc}});
}
template <class Compute>
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void* alpha, const void* a, cudaDataType type_a,
                                          int lda, long long stride_a, const void* b, cudaDataType type_b, int ldb,
                                          long long stride_b, const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long stride_c, int count, Compute compute, cublasGemmAlgo_t,
                                          Where where = Where::current()) {
  return runtime::multiply({handle, "cublasGemmStridedBatchedEx", type_c, where},
                           {transa,
                            transb,
                            m,
                            n,
                            k,
                            count,
                            alpha,
                            beta,
                            runtime::factor_type(compute, type_c),
                            {a, type_a, lda, stride_a},
                            {b, type_b, ldb, stride_b},
                            {c, type_c, ldc, stride_c}});
}
template <class Compute>
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* const a[], cudaDataType type_a, int lda,
                                   const void* const b[], cudaDataType type_b, int ldb, const void* beta,
                                   void* const c[], cudaDataType type_c, int ldc, int count, Compute compute,
                                   cublasGemmAlgo_t, Where where = Where::current()) {
  return runtime::multiply({handle, "cublasGemmBatchedEx", type_c, where}, {transa,
                                                                            transb,
                                                                            m,
                                                                            n,
                                                                            k,
                                                                            count,
                                                                            alpha,
                                                                            beta,
                                                                            runtime::factor_type(compute, type_c),
                                                                            {nullptr, type_a, lda, 0, a},
                                                                            {nullptr, type_b, ldb, 0, b},
                                                                            {nullptr, type_c, ldc, 0, c}});
}
/// fp32 computation with matrices of other types.
inline cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                    int n, int k, const float* alpha, const void* a, cudaDataType type_a, int lda,
                                    const void* b, cudaDataType type_b, int ldb, const float* beta, void* c,
                                    cudaDataType type_c, int ldc, Where where = Where::current()) {
  return runtime::multiply(
      {handle, "cublasSgemmEx", type_c, where},
      {transa, transb, m, n, k, 1, alpha, beta, CUDA_R_32F, {a, type_a, lda}, {b, type_b, ldb}, {c, type_c, ldc}});
}

}  // namespace convlab::simt::cuda
