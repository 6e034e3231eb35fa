// Runs cuBLAS matrix products on the host and reports their errors.

#include "convlab/simt/cuda/cublas.h"

#include <exception>

#include "convlab/simt/cuda/call_errors.h"

namespace convlab::simt::cuda::runtime {

cublasStatus_t multiply(cublasHandle_t handle, int m, int n, int k, float alpha, const ProductMatrix& a,
                        const ProductMatrix& b, float beta, const ProductMatrix& c, int count, Where where) noexcept {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || k < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (m == 0 || n == 0 || k == 0 || count <= 0) return CUBLAS_STATUS_SUCCESS;
  try {
    on_stream(handle->stream);
    simt::multiply({m, n, k, count, alpha, beta, a, b, c});
    return CUBLAS_STATUS_SUCCESS;
  } catch (const std::exception& error) {
    failed(cudaErrorInvalidValue, "a cuBLAS matrix product", where, error.what());
    return CUBLAS_STATUS_INVALID_VALUE;
  }
}

}  // namespace convlab::simt::cuda::runtime
