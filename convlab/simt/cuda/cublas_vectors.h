#pragma once

#include "convlab/simt/cuda/cublas_handles.h"

/// Level 1 of cuBLAS: vectors. Results are returned on the host or on the device, as the handle's pointer mode says.
namespace convlab::simt::cuda {

namespace runtime {

/// A vector of another type than the call's: BlasCall::type is then that of the first vector.
struct BlasVector {
  const void* data;
  int step;
  cudaDataType type;
};

cublasStatus_t axpy(const BlasCall& call, int n, const void* alpha, cudaDataType alpha_type, BlasVector x,
                    BlasVector y) noexcept;
cublasStatus_t dot(const BlasCall& call, int n, BlasVector x, BlasVector y, bool conjugates, void* result,
                   cudaDataType result_type) noexcept;
/// The square root of the sum of squares, or the sum of the absolute values of real and imaginary parts.
enum class Norm { euclidean, absolute };
cublasStatus_t norm(const BlasCall& call, int n, BlasVector x, Norm kind, void* result,
                    cudaDataType result_type) noexcept;
cublasStatus_t extreme(const BlasCall& call, int n, BlasVector x, bool largest, int* result) noexcept;
cublasStatus_t scale(const BlasCall& call, int n, const void* alpha, cudaDataType alpha_type, BlasVector x) noexcept;
cublasStatus_t copy(const BlasCall& call, int n, BlasVector x, BlasVector y, bool swaps) noexcept;
cublasStatus_t rotate(const BlasCall& call, int n, BlasVector x, BlasVector y, const void* c, cudaDataType c_type,
                      const void* s, cudaDataType s_type) noexcept;

constexpr cudaDataType real_type(cudaDataType type) {
  return type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
}

}  // namespace runtime

#define CONVLAB_SIMT_CUBLAS_VECTORS(X, T, R, type)                                                                     \
  inline cublasStatus_t cublas##X##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y,      \
                                        int incy, Where where = Where::current()) {                                    \
    return runtime::axpy({handle, "cublas" #X "axpy", type, where}, n, alpha, type, {x, incx, type}, {y, incy, type}); \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##scal(cublasHandle_t handle, int n, const T* alpha, T* x, int incx,                  \
                                        Where where = Where::current()) {                                              \
    return runtime::scale({handle, "cublas" #X "scal", type, where}, n, alpha, type, {x, incx, type});                 \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##copy(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy,            \
                                        Where where = Where::current()) {                                              \
    return runtime::copy({handle, "cublas" #X "copy", type, where}, n, {x, incx, type}, {y, incy, type}, false);       \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##swap(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy,                  \
                                        Where where = Where::current()) {                                              \
    return runtime::copy({handle, "cublas" #X "swap", type, where}, n, {x, incx, type}, {y, incy, type}, true);        \
  }                                                                                                                    \
  inline cublasStatus_t cublas##X##rot(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy, const R* c,       \
                                       const T* s, Where where = Where::current()) {                                   \
    return runtime::rotate({handle, "cublas" #X "rot", type, where}, n, {x, incx, type}, {y, incy, type}, c,           \
                           runtime::real_type(type), s, type);                                                         \
  }
CONVLAB_SIMT_CUBLAS_VECTORS(S, float, float, CUDA_R_32F)
CONVLAB_SIMT_CUBLAS_VECTORS(D, double, double, CUDA_R_64F)
CONVLAB_SIMT_CUBLAS_VECTORS(C, cuComplex, float, CUDA_C_32F)
CONVLAB_SIMT_CUBLAS_VECTORS(Z, cuDoubleComplex, double, CUDA_C_64F)
#undef CONVLAB_SIMT_CUBLAS_VECTORS

#define CONVLAB_SIMT_CUBLAS_DOT(function, T, type, conjugates)                                                        \
  inline cublasStatus_t function(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy, T* result, \
                                 Where where = Where::current()) {                                                    \
    return runtime::dot({handle, #function, type, where}, n, {x, incx, type}, {y, incy, type}, conjugates, result,    \
                        type);                                                                                        \
  }
CONVLAB_SIMT_CUBLAS_DOT(cublasSdot, float, CUDA_R_32F, false)
CONVLAB_SIMT_CUBLAS_DOT(cublasDdot, double, CUDA_R_64F, false)
CONVLAB_SIMT_CUBLAS_DOT(cublasCdotu, cuComplex, CUDA_C_32F, false)
CONVLAB_SIMT_CUBLAS_DOT(cublasCdotc, cuComplex, CUDA_C_32F, true)
CONVLAB_SIMT_CUBLAS_DOT(cublasZdotu, cuDoubleComplex, CUDA_C_64F, false)
CONVLAB_SIMT_CUBLAS_DOT(cublasZdotc, cuDoubleComplex, CUDA_C_64F, true)
#undef CONVLAB_SIMT_CUBLAS_DOT

#define CONVLAB_SIMT_CUBLAS_EXTREME(function, T, type, largest)                                     \
  inline cublasStatus_t function(cublasHandle_t handle, int n, const T* x, int incx, int* result,   \
                                 Where where = Where::current()) {                                  \
    return runtime::extreme({handle, #function, type, where}, n, {x, incx, type}, largest, result); \
  }
CONVLAB_SIMT_CUBLAS_EXTREME(cublasIsamax, float, CUDA_R_32F, true)
CONVLAB_SIMT_CUBLAS_EXTREME(cublasIdamax, double, CUDA_R_64F, true)
CONVLAB_SIMT_CUBLAS_EXTREME(cublasIcamax, cuComplex, CUDA_C_32F, true)
CONVLAB_SIMT_CUBLAS_EXTREME(cublasIzamax, cuDoubleComplex, CUDA_C_64F, true)
CONVLAB_SIMT_CUBLAS_EXTREME(cublasIsamin, float, CUDA_R_32F, false)
CONVLAB_SIMT_CUBLAS_EXTREME(cublasIdamin, double, CUDA_R_64F, false)
CONVLAB_SIMT_CUBLAS_EXTREME(cublasIcamin, cuComplex, CUDA_C_32F, false)
CONVLAB_SIMT_CUBLAS_EXTREME(cublasIzamin, cuDoubleComplex, CUDA_C_64F, false)
#undef CONVLAB_SIMT_CUBLAS_EXTREME

#define CONVLAB_SIMT_CUBLAS_NORM(function, T, R, type, kind)                                                \
  inline cublasStatus_t function(cublasHandle_t handle, int n, const T* x, int incx, R* result,             \
                                 Where where = Where::current()) {                                          \
    return runtime::norm({handle, #function, type, where}, n, {x, incx, type}, runtime::Norm::kind, result, \
                         runtime::real_type(type));                                                         \
  }
CONVLAB_SIMT_CUBLAS_NORM(cublasSnrm2, float, float, CUDA_R_32F, euclidean)
CONVLAB_SIMT_CUBLAS_NORM(cublasDnrm2, double, double, CUDA_R_64F, euclidean)
CONVLAB_SIMT_CUBLAS_NORM(cublasScnrm2, cuComplex, float, CUDA_C_32F, euclidean)
CONVLAB_SIMT_CUBLAS_NORM(cublasDznrm2, cuDoubleComplex, double, CUDA_C_64F, euclidean)
CONVLAB_SIMT_CUBLAS_NORM(cublasSasum, float, float, CUDA_R_32F, absolute)
CONVLAB_SIMT_CUBLAS_NORM(cublasDasum, double, double, CUDA_R_64F, absolute)
CONVLAB_SIMT_CUBLAS_NORM(cublasScasum, cuComplex, float, CUDA_C_32F, absolute)
CONVLAB_SIMT_CUBLAS_NORM(cublasDzasum, cuDoubleComplex, double, CUDA_C_64F, absolute)
#undef CONVLAB_SIMT_CUBLAS_NORM

inline cublasStatus_t cublasCsscal(cublasHandle_t handle, int n, const float* alpha, cuComplex* x, int incx,
                                   Where where = Where::current()) {
  return runtime::scale({handle, "cublasCsscal", CUDA_C_32F, where}, n, alpha, CUDA_R_32F, {x, incx, CUDA_C_32F});
}
inline cublasStatus_t cublasZdscal(cublasHandle_t handle, int n, const double* alpha, cuDoubleComplex* x, int incx,
                                   Where where = Where::current()) {
  return runtime::scale({handle, "cublasZdscal", CUDA_C_64F, where}, n, alpha, CUDA_R_64F, {x, incx, CUDA_C_64F});
}

/// With the types of all arrays. The type of the computation has no effect: all is computed in double precision.
inline cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void* alpha, cudaDataType alpha_type,
                                   const void* x, cudaDataType x_type, int incx, void* y, cudaDataType y_type, int incy,
                                   cudaDataType, Where where = Where::current()) {
  return runtime::axpy({handle, "cublasAxpyEx", x_type, where}, n, alpha, alpha_type, {x, incx, x_type},
                       {y, incy, y_type});
}
inline cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void* alpha, cudaDataType alpha_type, void* x,
                                   cudaDataType x_type, int incx, cudaDataType, Where where = Where::current()) {
  return runtime::scale({handle, "cublasScalEx", x_type, where}, n, alpha, alpha_type, {x, incx, x_type});
}
inline cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void* x, cudaDataType x_type, int incx,
                                  const void* y, cudaDataType y_type, int incy, void* result, cudaDataType result_type,
                                  cudaDataType, Where where = Where::current()) {
  return runtime::dot({handle, "cublasDotEx", x_type, where}, n, {x, incx, x_type}, {y, incy, y_type}, false, result,
                      result_type);
}
inline cublasStatus_t cublasDotcEx(cublasHandle_t handle, int n, const void* x, cudaDataType x_type, int incx,
                                   const void* y, cudaDataType y_type, int incy, void* result, cudaDataType result_type,
                                   cudaDataType, Where where = Where::current()) {
  return runtime::dot({handle, "cublasDotcEx", x_type, where}, n, {x, incx, x_type}, {y, incy, y_type}, true, result,
                      result_type);
}
inline cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void* x, cudaDataType x_type, int incx,
                                   void* result, cudaDataType result_type, cudaDataType,
                                   Where where = Where::current()) {
  return runtime::norm({handle, "cublasNrm2Ex", x_type, where}, n, {x, incx, x_type}, runtime::Norm::euclidean, result,
                       result_type);
}

}  // namespace convlab::simt::cuda
