// Compares cuSPARSE's products and conversions with sums over dense matrices: CSR, CSC and COO, both orders and bases,
// and sparse vectors.
#include <cusparse.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    if (const int error = static_cast<int>(call); error != 0) {                \
      std::printf("%s:%d: %s returns %d\n", __FILE__, __LINE__, #call, error); \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

constexpr int kRows = 5, kColumns = 7, kWidth = 3;
int failures = 0;

void expect(const char* what, int at, double found, double expected) {
  if (std::abs(found - expected) <= 1e-12 * (1 + std::abs(expected))) return;
  if (failures++ < 10) std::printf("%s, element %d: %g instead of %g\n", what, at, found, expected);
}

template <class T>
T* to_device(const std::vector<T>& values) {
  T* device;
  CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}
template <class T>
std::vector<T> from_device(const T* device, size_t count) {
  std::vector<T> values(count);
  CHECK(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

double dense_element(int row, int column) { return (row * 3 + column * 5) % 4 == 0 ? row + 0.5 * column + 1 : 0; }

// The same matrix in each format.
struct Sparse {
  cusparseSpMatDescr_t description = nullptr;
  int *first = nullptr, *second = nullptr;
  double* values = nullptr;

  Sparse(cusparseFormat_t format, int base) {
    const bool by_rows = format != CUSPARSE_FORMAT_CSC;
    std::vector<int> offsets{base}, outer, inner;
    std::vector<double> elements;
    for (int i = 0; i < (by_rows ? kRows : kColumns); ++i) {
      for (int j = 0; j < (by_rows ? kColumns : kRows); ++j) {
        const double value = by_rows ? dense_element(i, j) : dense_element(j, i);
        if (value == 0) continue;
        outer.push_back(i + base);
        inner.push_back(j + base);
        elements.push_back(value);
      }
      offsets.push_back(static_cast<int>(elements.size()) + base);
    }
    first = to_device(format == CUSPARSE_FORMAT_COO ? outer : offsets);
    second = to_device(inner);
    values = to_device(elements);
    const auto index_base = static_cast<cusparseIndexBase_t>(base);
    const int64_t count = elements.size();
    if (format == CUSPARSE_FORMAT_CSR) {
      CHECK(cusparseCreateCsr(&description, kRows, kColumns, count, first, second, values, CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_32I, index_base, CUDA_R_64F));
    } else if (format == CUSPARSE_FORMAT_CSC) {
      CHECK(cusparseCreateCsc(&description, kRows, kColumns, count, first, second, values, CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_32I, index_base, CUDA_R_64F));
    } else {
      CHECK(cusparseCreateCoo(&description, kRows, kColumns, count, first, second, values, CUSPARSE_INDEX_32I,
                              index_base, CUDA_R_64F));
    }
  }
  Sparse(const Sparse&) = delete;
  ~Sparse() {
    cusparseDestroySpMat(description);
    cudaFree(first);
    cudaFree(second);
    cudaFree(values);
  }
};

void test_products(cusparseHandle_t handle, cusparseFormat_t format, int base, bool transposed) {
  const Sparse a(format, base);
  const int rows = transposed ? kColumns : kRows, columns = transposed ? kRows : kColumns;
  const auto op = transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
  const auto at = [&](int row, int column) {
    return transposed ? dense_element(column, row) : dense_element(row, column);
  };
  std::vector<double> x(columns * kWidth), y(rows * kWidth);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(i + 1.0);
  for (size_t i = 0; i < y.size(); ++i) y[i] = std::cos(i + 1.0);
  double *device_x = to_device(x), *device_y = to_device(y);
  const double alpha = 2, beta = -0.5;

  cusparseDnVecDescr_t vector_x, vector_y;
  CHECK(cusparseCreateDnVec(&vector_x, columns, device_x, CUDA_R_64F));
  CHECK(cusparseCreateDnVec(&vector_y, rows, device_y, CUDA_R_64F));
  size_t bytes = 0;
  void* buffer = nullptr;
  CHECK(cusparseSpMV_bufferSize(handle, op, &alpha, a.description, vector_x, &beta, vector_y, CUDA_R_64F,
                                CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
  CHECK(cudaMalloc(&buffer, bytes));
  CHECK(cusparseSpMV(handle, op, &alpha, a.description, vector_x, &beta, vector_y, CUDA_R_64F,
                     CUSPARSE_SPMV_ALG_DEFAULT, buffer));
  std::vector<double> found = from_device(device_y, rows);
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int k = 0; k < columns; ++k) sum += at(row, k) * x[k];
    expect("cusparseSpMV", row, found[row], alpha * sum + beta * y[row]);
  }

  // B by rows, C by columns.
  CHECK(cudaMemcpy(device_y, y.data(), y.size() * sizeof(double), cudaMemcpyHostToDevice));
  cusparseDnMatDescr_t b, c;
  CHECK(cusparseCreateDnMat(&b, columns, kWidth, kWidth, device_x, CUDA_R_64F, CUSPARSE_ORDER_ROW));
  CHECK(cusparseCreateDnMat(&c, rows, kWidth, rows, device_y, CUDA_R_64F, CUSPARSE_ORDER_COL));
  CHECK(cusparseSpMM(handle, op, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a.description, b, &beta, c, CUDA_R_64F,
                     CUSPARSE_SPMM_ALG_DEFAULT, buffer));
  found = from_device(device_y, rows * kWidth);
  for (int i = 0; i < rows * kWidth; ++i) {
    double sum = 0;
    for (int k = 0; k < columns; ++k) sum += at(i % rows, k) * x[k * kWidth + i / rows];
    expect("cusparseSpMM", i, found[i], alpha * sum + beta * y[i]);
  }
  CHECK(cusparseDestroyDnVec(vector_x));
  CHECK(cusparseDestroyDnVec(vector_y));
  CHECK(cusparseDestroyDnMat(b));
  CHECK(cusparseDestroyDnMat(c));
  CHECK(cudaFree(buffer));
  CHECK(cudaFree(device_x));
  CHECK(cudaFree(device_y));
}

// To a dense matrix and back to CSR.
void test_conversions(cusparseHandle_t handle, cusparseFormat_t format) {
  const Sparse a(format, 1);
  double* dense;
  int* offsets;
  CHECK(cudaMalloc(&dense, kRows * kColumns * sizeof(double)));
  CHECK(cudaMalloc(&offsets, (kRows + 1) * sizeof(int)));
  cusparseDnMatDescr_t matrix;
  CHECK(cusparseCreateDnMat(&matrix, kRows, kColumns, kColumns, dense, CUDA_R_64F, CUSPARSE_ORDER_ROW));
  CHECK(cusparseSparseToDense(handle, a.description, matrix, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
  std::vector<double> found = from_device(dense, kRows * kColumns);
  for (int i = 0; i < kRows * kColumns; ++i) {
    expect("cusparseSparseToDense", i, found[i], dense_element(i / kColumns, i % kColumns));
  }
  cusparseSpMatDescr_t back;
  CHECK(cusparseCreateCsr(&back, kRows, kColumns, 0, offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  CHECK(cusparseDenseToSparse_analysis(handle, matrix, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
  int64_t rows, columns, count;
  CHECK(cusparseSpMatGetSize(back, &rows, &columns, &count));
  int* indices;
  double* values;
  CHECK(cudaMalloc(&indices, count * sizeof(int)));
  CHECK(cudaMalloc(&values, count * sizeof(double)));
  CHECK(cusparseCsrSetPointers(back, offsets, indices, values));
  CHECK(cusparseDenseToSparse_convert(handle, matrix, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
  const std::vector<int> found_offsets = from_device(offsets, kRows + 1), found_indices = from_device(indices, count);
  found = from_device(values, count);
  expect("the last offset", 0, found_offsets[kRows], static_cast<double>(count));
  for (int row = 0; row < kRows; ++row) {
    for (int i = found_offsets[row]; i < found_offsets[row + 1]; ++i) {
      expect("cusparseDenseToSparse_convert", i, found[i], dense_element(row, found_indices[i]));
    }
  }
  CHECK(cusparseDestroyDnMat(matrix));
  CHECK(cusparseDestroySpMat(back));
  for (void* each : {static_cast<void*>(dense), static_cast<void*>(offsets), static_cast<void*>(indices),
                     static_cast<void*>(values)}) {
    CHECK(cudaFree(each));
  }
}

void test_vectors(cusparseHandle_t handle) {
  int* indices = to_device(std::vector<int>{1, 4, 5});
  double *sparse = to_device(std::vector<double>{10, 20, 30}), *dense = to_device(std::vector<double>(6, 1.0));
  cusparseSpVecDescr_t x;
  cusparseDnVecDescr_t y;
  CHECK(cusparseCreateSpVec(&x, 6, 3, indices, sparse, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  CHECK(cusparseCreateDnVec(&y, 6, dense, CUDA_R_64F));
  const double alpha = 2, beta = 3;
  CHECK(cusparseAxpby(handle, &alpha, x, &beta, y));
  std::vector<double> found = from_device(dense, 6);
  expect("cusparseAxpby", 0, found[0], 3);
  expect("cusparseAxpby", 4, found[4], 43);
  CHECK(cusparseGather(handle, y, x));
  expect("cusparseGather", 2, from_device(sparse, 3)[2], 63);
  CHECK(cudaMemset(dense, 0, 6 * sizeof(double)));
  CHECK(cusparseScatter(handle, x, y));
  found = from_device(dense, 6);
  expect("cusparseScatter", 1, found[1], 23);
  expect("cusparseScatter", 2, found[2], 0);
  CHECK(cusparseDestroySpVec(x));
  CHECK(cusparseDestroyDnVec(y));
  CHECK(cudaFree(indices));
  CHECK(cudaFree(sparse));
  CHECK(cudaFree(dense));
}

int main() {
  cusparseHandle_t handle;
  CHECK(cusparseCreate(&handle));
  for (const auto format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO}) {
    for (const bool transposed : {false, true}) {
      for (const int base : {0, 1}) test_products(handle, format, base, transposed);
    }
    test_conversions(handle, format);
  }
  test_vectors(handle);
  CHECK(cusparseDestroy(handle));
  if (failures == 0) std::printf("PASSED\n");
  return failures == 0 ? 0 : 1;
}
