#pragma once

#include "convlab/simt/cuda/cublas_handles.h"

/// cuBLAS' batched LU factorizations, inverses and solutions of linear systems.
///
/// Not supported: cublasXgelsBatched, cublasXgeqrfBatched, cublasXtrsmBatched.
namespace convlab::simt::cuda {

namespace runtime {

/// Square matrices at addresses in device memory.
struct BlasBatch {
  const void* pointers;
  int leading;
};

/// In place. Pivots, n per matrix in device memory, count rows from 1; with a null pointer, rows are not exchanged.
/// Each of `info` in device memory is 0, or the row of the first pivot that is 0.
cublasStatus_t factorize(const BlasCall& call, int n, BlasBatch a, int* pivots, int* info, int count) noexcept;
cublasStatus_t invert_factors(const BlasCall& call, int n, BlasBatch a, const int* pivots, BlasBatch c, int* info,
                              int count) noexcept;
/// The same for matrices that are not factorized.
cublasStatus_t invert(const BlasCall& call, int n, BlasBatch a, BlasBatch c, int* info, int count) noexcept;
/// Overwrites B, n x columns each. `info`, on the host, is 0, or -i if argument i is invalid.
cublasStatus_t solve(const BlasCall& call, cublasOperation_t op, int n, int columns, BlasBatch a, const int* pivots,
                     BlasBatch b, int* info, int count) noexcept;

}  // namespace runtime

#define CONVLAB_SIMT_CUBLAS_FACTORS(X, T, R, type)                                                                     \
  inline cublasStatus_t cublas##X##getrfBatched(cublasHandle_t handle, int n, T* const a[], int lda, int* pivots,      \
                                                int* info, int count, Where where = Where::current()) {                \
    return runtime::factorize({handle, "cublas" #X "getrfBatched", type, where}, n, {a, lda}, pivots, info, count);    \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##getriBatched(cublasHandle_t handle, int n, const T* const a[], int lda,             \
                                                const int* pivots, T* const c[], int ldc, int* info, int count,        \
                                                Where where = Where::current()) {                                      \
    return runtime::invert_factors({handle, "cublas" #X "getriBatched", type, where}, n, {a, lda}, pivots, {c, ldc},   \
                                   info, count);                                                                       \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##matinvBatched(cublasHandle_t handle, int n, const T* const a[], int lda,            \
                                                 T* const c[], int ldc, int* info, int count,                          \
                                                 Where where = Where::current()) {                                     \
    return runtime::invert({handle, "cublas" #X "matinvBatched", type, where}, n, {a, lda}, {c, ldc}, info, count);    \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##getrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int nrhs,       \
                                                const T* const a[], int lda, const int* pivots, T* const b[], int ldb, \
                                                int* info, int count, Where where = Where::current()) {                \
    return runtime::solve({handle, "cublas" #X "getrsBatched", type, where}, trans, n, nrhs, {a, lda}, pivots,         \
                          {b, ldb}, info, count);                                                                      \
  }
CONVLAB_SIMT_CUBLAS_FACTORS(S, float, float, CUDA_R_32F)
CONVLAB_SIMT_CUBLAS_FACTORS(D, double, double, CUDA_R_64F)
CONVLAB_SIMT_CUBLAS_FACTORS(C, cuComplex, float, CUDA_C_32F)
CONVLAB_SIMT_CUBLAS_FACTORS(Z, cuDoubleComplex, double, CUDA_C_64F)
#undef CONVLAB_SIMT_CUBLAS_FACTORS

}  // namespace convlab::simt::cuda
