// Loads and stores the matrices of cuBLAS, and solves triangular systems.

#include "convlab/simt/cuda/cublas_triangles.h"

#include <cstring>

#include "convlab/simt/cuda/dense_products.h"

namespace convlab::simt::cuda::runtime {
namespace {

/// Returns the stored part of a column.
DeviceMatrix column_of(const DeviceMatrix& m, cublasFillMode_t fill, int64_t column, bool with_diagonal) {
  const int64_t skipped = with_diagonal ? 0 : 1;
  if (fill == CUBLAS_FILL_MODE_UPPER) return part(m, 0, column, column + 1 - skipped, 1);
  return part(m, column + skipped, column, m.rows - column - skipped, 1);
}

}  // namespace

DeviceMatrix part(const DeviceMatrix& matrix, int64_t row, int64_t column, int64_t rows, int64_t columns) {
  DeviceMatrix result = matrix;
  const int64_t bytes = (row + column * matrix.leading) * static_cast<int64_t>(bytes_of(matrix.type));
  result.data = static_cast<const char*>(matrix.data) + bytes;
  result.rows = rows;
  result.columns = columns;
  return result;
}

template <class Number>
std::vector<Number> load_operand(const LibraryCall& call, const DeviceMatrix& matrix, cublasOperation_t op) {
  std::vector<Number> values = load<Number>(call, matrix);
  if (op == CUBLAS_OP_C || op == CUBLAS_OP_CONJG) {
    for (Number& value : values) value = conjugate(value);
  }
  return op == CUBLAS_OP_T || op == CUBLAS_OP_C ? transposed(values, matrix.rows, matrix.columns) : values;
}

template <class Number>
std::vector<Number> load_triangle(const LibraryCall& call, const DeviceMatrix& matrix, cublasFillMode_t fill,
                                  cublasDiagType_t diagonal) {
  const int64_t n = matrix.columns;
  const bool unit = diagonal == CUBLAS_DIAG_UNIT;
  std::vector<Number> values(static_cast<size_t>(n * n));
  for (int64_t column = 0; column < n; ++column) {
    const std::vector<Number> stored = load<Number>(call, column_of(matrix, fill, column, !unit));
    const int64_t first = fill == CUBLAS_FILL_MODE_UPPER ? 0 : column + (unit ? 1 : 0);
    for (size_t i = 0; i < stored.size(); ++i) values[static_cast<size_t>(column * n + first) + i] = stored[i];
    if (unit) values[static_cast<size_t>(column * n + column)] = 1;
  }
  return values;
}

template <class Number>
void store_triangle(const LibraryCall& call, const DeviceMatrix& matrix, cublasFillMode_t fill,
                    const std::vector<Number>& values) {
  const int64_t n = matrix.columns;
  for (int64_t column = 0; column < n; ++column) {
    const DeviceMatrix stored = column_of(matrix, fill, column, true);
    const auto first = values.begin() + column * n + (fill == CUBLAS_FILL_MODE_UPPER ? 0 : column);
    store(call, stored, std::vector<Number>(first, first + stored.rows));
  }
}

template <class Number>
std::vector<Number> load_symmetric(const LibraryCall& call, const DeviceMatrix& matrix, cublasFillMode_t fill,
                                   bool conjugates) {
  std::vector<Number> values = load_triangle<Number>(call, matrix, fill, CUBLAS_DIAG_NON_UNIT);
  const auto n = static_cast<size_t>(matrix.columns);
  for (size_t column = 0; column < n; ++column) {
    for (size_t row = 0; row < column; ++row) {
      Number &upper = values[column * n + row], &lower = values[row * n + column];
      const Number stored = fill == CUBLAS_FILL_MODE_UPPER ? upper : lower;
      (fill == CUBLAS_FILL_MODE_UPPER ? lower : upper) = conjugates ? conjugate(stored) : stored;
    }
    if (conjugates) values[column * n + column] = std::real(values[column * n + column]);
  }
  return values;
}

std::vector<const void*> load_pointers(const LibraryCall& call, const void* pointers, int count,
                                       std::string_view name) {
  std::vector<const void*> all(static_cast<size_t>(count));
  if (all.empty()) return all;
  const size_t bytes = all.size() * sizeof(void*);
  call.reads(pointers, bytes, sizeof(void*), name);
  call.needs_values(pointers, bytes, name);
  std::memcpy(all.data(), pointers, bytes);
  return all;
}

template <class Number>
void solve_triangle(const std::vector<Number>& t, bool lower, int64_t n, std::vector<Number>& b, int64_t columns) {
  const auto at = [n](int64_t row, int64_t column) { return static_cast<size_t>(row + column * n); };
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = lower ? step : n - 1 - step;
      const Number x = b[at(i, column)] / t[at(i, i)];
      b[at(i, column)] = x;
      for (int64_t row = lower ? i + 1 : 0; row < (lower ? n : i); ++row) b[at(row, column)] -= x * t[at(row, i)];
    }
  }
}

#define CONVLAB_SIMT_TRIANGLES(Number)                                                                                 \
  template std::vector<Number> load_operand(const LibraryCall&, const DeviceMatrix&, cublasOperation_t);               \
  template std::vector<Number> load_triangle(const LibraryCall&, const DeviceMatrix&, cublasFillMode_t,                \
                                             cublasDiagType_t);                                                        \
  template void store_triangle(const LibraryCall&, const DeviceMatrix&, cublasFillMode_t, const std::vector<Number>&); \
  template std::vector<Number> load_symmetric(const LibraryCall&, const DeviceMatrix&, cublasFillMode_t, bool);        \
  template void solve_triangle(const std::vector<Number>&, bool, int64_t, std::vector<Number>&, int64_t);
CONVLAB_SIMT_TRIANGLES(double)
CONVLAB_SIMT_TRIANGLES(std::complex<double>)
#undef CONVLAB_SIMT_TRIANGLES

}  // namespace convlab::simt::cuda::runtime
