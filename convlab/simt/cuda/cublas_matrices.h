#pragma once

#include "convlab/simt/cuda/cublas_handles.h"

/// Levels 2 and 3 of cuBLAS without the general products, which are in convlab/simt/cuda/cublas_products.h: products
/// with vectors, symmetric, Hermitian and triangular matrices, sums of matrices and products with diagonal ones.
///
/// Not supported: packed and banded matrices, symmetric updates of rank 2.
namespace convlab::simt::cuda {

namespace runtime {

struct VectorArgument {
  const void* data;
  int step;
};
struct MatrixArgument {
  const void* data;
  int leading;
};

/// y = alpha op(A) x + beta y, where A is m x n.
cublasStatus_t multiply_vector(const BlasCall& call, cublasOperation_t op, int m, int n, const void* alpha,
                               MatrixArgument a, VectorArgument x, const void* beta, VectorArgument y) noexcept;
/// The same with a symmetric or Hermitian n x n matrix.
cublasStatus_t multiply_symmetric_vector(const BlasCall& call, cublasFillMode_t fill, bool conjugates, int n,
                                         const void* alpha, MatrixArgument a, VectorArgument x, const void* beta,
                                         VectorArgument y) noexcept;
/// A += alpha x y^T, or y^H.
cublasStatus_t update(const BlasCall& call, int m, int n, const void* alpha, VectorArgument x, VectorArgument y,
                      bool conjugates, MatrixArgument a) noexcept;
/// A += alpha x x^T, in one triangle.
cublasStatus_t update_symmetric(const BlasCall& call, cublasFillMode_t fill, bool conjugates, int n, const void* alpha,
                                cudaDataType alpha_type, VectorArgument x, MatrixArgument a) noexcept;
/// x = op(A) x, or the x with op(A) x = old x.
cublasStatus_t triangular_vector(const BlasCall& call, bool solves, cublasFillMode_t fill, cublasOperation_t op,
                                 cublasDiagType_t diagonal, int n, MatrixArgument a, VectorArgument x) noexcept;

/// C = alpha A B + beta C, or B A, with a symmetric or Hermitian A.
cublasStatus_t multiply_symmetric(const BlasCall& call, cublasSideMode_t side, cublasFillMode_t fill, bool conjugates,
                                  int m, int n, const void* alpha, MatrixArgument a, MatrixArgument b, const void* beta,
                                  MatrixArgument c) noexcept;
/// C = alpha op(A) op(A)^T + beta C, in one triangle.
cublasStatus_t update_by_product(const BlasCall& call, cublasFillMode_t fill, cublasOperation_t op, bool conjugates,
                                 int n, int k, const void* alpha, cudaDataType factor_type, MatrixArgument a,
                                 const void* beta, MatrixArgument c) noexcept;
struct Triangle {
  cublasSideMode_t side;
  cublasFillMode_t fill;
  cublasOperation_t op;
  cublasDiagType_t diagonal;
};
/// C = alpha op(A) B, or B op(A); or the X with op(A) X = alpha B.
cublasStatus_t triangular(const BlasCall& call, bool solves, const Triangle& triangle, int m, int n, const void* alpha,
                          MatrixArgument a, MatrixArgument b, MatrixArgument c) noexcept;
/// C = alpha op(A) + beta op(B).
cublasStatus_t add(const BlasCall& call, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                   const void* alpha, MatrixArgument a, const void* beta, MatrixArgument b, MatrixArgument c) noexcept;
/// C = diag(x) A, or A diag(x).
cublasStatus_t multiply_diagonal(const BlasCall& call, cublasSideMode_t side, int m, int n, MatrixArgument a,
                                 VectorArgument x, MatrixArgument c) noexcept;

}  // namespace runtime

#define CONVLAB_SIMT_CUBLAS_MATRICES(X, T, R, type)                                                                    \
  inline cublasStatus_t cublas##X##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T* alpha,  \
                                        const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy,      \
                                        Where where = Where::current()) {                                              \
    return runtime::multiply_vector({handle, "cublas" #X "gemv", type, where}, trans, m, n, alpha, {a, lda},           \
                                    {x, incx}, beta, {y, incy});                                                       \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##symv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* alpha,           \
                                        const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy,      \
                                        Where where = Where::current()) {                                              \
    return runtime::multiply_symmetric_vector({handle, "cublas" #X "symv", type, where}, uplo, false, n, alpha,        \
                                              {a, lda}, {x, incx}, beta, {y, incy});                                   \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##syr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* alpha,            \
                                       const T* x, int incx, T* a, int lda, Where where = Where::current()) {          \
    return runtime::update_symmetric({handle, "cublas" #X "syr", type, where}, uplo, false, n, alpha, type, {x, incx}, \
                                     {a, lda});                                                                        \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##trmv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,         \
                                        cublasDiagType_t diag, int n, const T* a, int lda, T* x, int incx,             \
                                        Where where = Where::current()) {                                              \
    return runtime::triangular_vector({handle, "cublas" #X "trmv", type, where}, false, uplo, trans, diag, n,          \
                                      {a, lda}, {x, incx});                                                            \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##trsv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,         \
                                        cublasDiagType_t diag, int n, const T* a, int lda, T* x, int incx,             \
                                        Where where = Where::current()) {                                              \
    return runtime::triangular_vector({handle, "cublas" #X "trsv", type, where}, true, uplo, trans, diag, n, {a, lda}, \
                                      {x, incx});                                                                      \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##symm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m,    \
                                        int n, const T* alpha, const T* a, int lda, const T* b, int ldb,               \
                                        const T* beta, T* c, int ldc, Where where = Where::current()) {                \
    return runtime::multiply_symmetric({handle, "cublas" #X "symm", type, where}, side, uplo, false, m, n, alpha,      \
                                       {a, lda}, {b, ldb}, beta, {c, ldc});                                            \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##syrk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n,  \
                                        int k, const T* alpha, const T* a, int lda, const T* beta, T* c, int ldc,      \
                                        Where where = Where::current()) {                                              \
    return runtime::update_by_product({handle, "cublas" #X "syrk", type, where}, uplo, trans, false, n, k, alpha,      \
                                      type, {a, lda}, beta, {c, ldc});                                                 \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##trmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,           \
                                        cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T* alpha,  \
                                        const T* a, int lda, const T* b, int ldb, T* c, int ldc,                       \
                                        Where where = Where::current()) {                                              \
    return runtime::triangular({handle, "cublas" #X "trmm", type, where}, false, {side, uplo, trans, diag}, m, n,      \
                               alpha, {a, lda}, {b, ldb}, {c, ldc});                                                   \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,           \
                                        cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T* alpha,  \
                                        const T* a, int lda, T* b, int ldb, Where where = Where::current()) {          \
    return runtime::triangular({handle, "cublas" #X "trsm", type, where}, true, {side, uplo, trans, diag}, m, n,       \
                               alpha, {a, lda}, {b, ldb}, {b, ldb});                                                   \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,     \
                                        int m, int n, const T* alpha, const T* a, int lda, const T* beta, const T* b,  \
                                        int ldb, T* c, int ldc, Where where = Where::current()) {                      \
    return runtime::add({handle, "cublas" #X "geam", type, where}, transa, transb, m, n, alpha, {a, lda}, beta,        \
                        {b, ldb}, {c, ldc});                                                                           \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##dgmm(cublasHandle_t handle, cublasSideMode_t mode, int m, int n, const T* a,        \
                                        int lda, const T* x, int incx, T* c, int ldc,                                  \
                                        Where where = Where::current()) {                                              \
    return runtime::multiply_diagonal({handle, "cublas" #X "dgmm", type, where}, mode, m, n, {a, lda}, {x, incx},      \
                                      {c, ldc});                                                                       \
  }
CONVLAB_SIMT_CUBLAS_MATRICES(S, float, float, CUDA_R_32F)
CONVLAB_SIMT_CUBLAS_MATRICES(D, double, double, CUDA_R_64F)
CONVLAB_SIMT_CUBLAS_MATRICES(C, cuComplex, float, CUDA_C_32F)
CONVLAB_SIMT_CUBLAS_MATRICES(Z, cuDoubleComplex, double, CUDA_C_64F)
#undef CONVLAB_SIMT_CUBLAS_MATRICES

#define CONVLAB_SIMT_CUBLAS_GER(function, T, type, conjugates)                                                         \
  inline cublasStatus_t function(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx,            \
                                 const T* y, int incy, T* a, int lda, Where where = Where::current()) {                \
    return runtime::update({handle, #function, type, where}, m, n, alpha, {x, incx}, {y, incy}, conjugates, {a, lda}); \
  }
CONVLAB_SIMT_CUBLAS_GER(cublasSger, float, CUDA_R_32F, false)
CONVLAB_SIMT_CUBLAS_GER(cublasDger, double, CUDA_R_64F, false)
CONVLAB_SIMT_CUBLAS_GER(cublasCgeru, cuComplex, CUDA_C_32F, false)
CONVLAB_SIMT_CUBLAS_GER(cublasCgerc, cuComplex, CUDA_C_32F, true)
CONVLAB_SIMT_CUBLAS_GER(cublasZgeru, cuDoubleComplex, CUDA_C_64F, false)
CONVLAB_SIMT_CUBLAS_GER(cublasZgerc, cuDoubleComplex, CUDA_C_64F, true)
#undef CONVLAB_SIMT_CUBLAS_GER

#define CONVLAB_SIMT_CUBLAS_HERMITIAN(X, T, R, type, real)                                                             \
  inline cublasStatus_t cublas##X##hemv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* alpha,           \
                                        const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy,      \
                                        Where where = Where::current()) {                                              \
    return runtime::multiply_symmetric_vector({handle, "cublas" #X "hemv", type, where}, uplo, true, n, alpha,         \
                                              {a, lda}, {x, incx}, beta, {y, incy});                                   \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##her(cublasHandle_t handle, cublasFillMode_t uplo, int n, const R* alpha,            \
                                       const T* x, int incx, T* a, int lda, Where where = Where::current()) {          \
    return runtime::update_symmetric({handle, "cublas" #X "her", type, where}, uplo, true, n, alpha, real, {x, incx},  \
                                     {a, lda});                                                                        \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##hemm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m,    \
                                        int n, const T* alpha, const T* a, int lda, const T* b, int ldb,               \
                                        const T* beta, T* c, int ldc, Where where = Where::current()) {                \
    return runtime::multiply_symmetric({handle, "cublas" #X "hemm", type, where}, side, uplo, true, m, n, alpha,       \
                                       {a, lda}, {b, ldb}, beta, {c, ldc});                                            \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##herk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n,  \
                                        int k, const R* alpha, const T* a, int lda, const R* beta, T* c, int ldc,      \
                                        Where where = Where::current()) {                                              \
    return runtime::update_by_product({handle, "cublas" #X "herk", type, where}, uplo, trans, true, n, k, alpha, real, \
                                      {a, lda}, beta, {c, ldc});                                                       \
  }
CONVLAB_SIMT_CUBLAS_HERMITIAN(C, cuComplex, float, CUDA_C_32F, CUDA_R_32F)
CONVLAB_SIMT_CUBLAS_HERMITIAN(Z, cuDoubleComplex, double, CUDA_C_64F, CUDA_R_64F)
#undef CONVLAB_SIMT_CUBLAS_HERMITIAN

}  // namespace convlab::simt::cuda
