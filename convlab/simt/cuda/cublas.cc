#include "convlab/simt/cuda/cublas.h"

#include <cstring>

#include "convlab/simt/memory.h"
#include "convlab/simt/recorder.h"

namespace convlab::simt::cuda::runtime {
namespace {

float element(const BlasMatrix& matrix, long long batch, long long row, long long column) {
  const long long at =
      batch * matrix.stride + (matrix.transposed ? column + row * matrix.leading : row + column * matrix.leading);
  if (matrix.half) return static_cast<const __half*>(matrix.data)[at];
  return static_cast<const float*>(matrix.data)[at];
}

// The bytes that a matrix of so many rows and columns takes, in all products.
size_t bytes_of(const BlasMatrix& matrix, int rows, int columns, int count) {
  if (matrix.transposed) std::swap(rows, columns);
  const long long elements = (count - 1) * matrix.stride + (columns - 1LL) * matrix.leading + rows;
  return static_cast<size_t>(elements) * (matrix.half ? sizeof(__half) : sizeof(float));
}

bool is_there(const BlasMatrix& matrix, int rows, int columns, int count) {
  const auto ranges = simt::internal::current_ranges();
  const auto address = reinterpret_cast<uintptr_t>(matrix.data);
  const simt::internal::Range* range = simt::internal::nearest_range(*ranges, address);
  return range != nullptr && address - range->base < range->bytes &&
         bytes_of(matrix, rows, columns, count) <= range->bytes - (address - range->base);
}

}  // namespace

cublasStatus_t multiply(int m, int n, int k, float alpha, const BlasMatrix& a, const BlasMatrix& b, float beta,
                        const BlasMatrix& c, int count, Where where) noexcept {
  if (Recorder* const records = recorder()) {
    records->refuse("a product of cuBLAS");
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (m <= 0 || n <= 0 || k <= 0 || count <= 0)
    return m < 0 || n < 0 || k < 0 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
  if (!is_there(a, m, k, count) || !is_there(b, k, n, count) || !is_there(c, m, n, count)) {
    complain(cudaErrorInvalidValue, "a product of cuBLAS", where,
             "a matrix is not in the device's memory, or passes its array's end");
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (int batch = 0; batch < count; ++batch) {
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < m; ++row) {
        double sum = 0;
        for (int i = 0; i < k; ++i)
          sum += static_cast<double>(element(a, batch, row, i)) * element(b, batch, i, column);
        float result = alpha * static_cast<float>(sum);
        if (beta != 0) result += beta * element(c, batch, row, column);
        const long long at = batch * c.stride + row + static_cast<long long>(column) * c.leading;
        if (c.half) static_cast<__half*>(const_cast<void*>(c.data))[at] = result;
        if (!c.half) static_cast<float*>(const_cast<void*>(c.data))[at] = result;
      }
    }
  }
  mark_initialised(c.data, bytes_of(c, m, n, count));
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace convlab::simt::cuda::runtime
