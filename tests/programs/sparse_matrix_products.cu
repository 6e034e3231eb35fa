// Multiplies sparse matrices with cusparseSpGEMM and compares with sums over dense ones: bases 0 and 1, beta 0 and not.
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

constexpr int kRows = 5, kInner = 7, kColumns = 6;
int failures = 0;

void expect(const char* what, int at, double found, double expected) {
  if (std::abs(found - expected) <= 1e-6 * (1 + std::abs(expected))) return;
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

// Row 2 of A is empty.
float left(int row, int column) { return row != 2 && (row * 3 + column * 5) % 4 == 0 ? row + 0.5f * column + 1 : 0; }
float right(int row, int column) { return (row + 2 * column) % 3 == 0 ? 2.0f - row + 0.25f * column : 0; }

struct Sparse {
  cusparseSpMatDescr_t description = nullptr;
  int *offsets = nullptr, *indices = nullptr;
  float* values = nullptr;

  Sparse(int rows, int columns, int base, float (*element)(int, int)) {
    std::vector<int> begins{base}, inner;
    std::vector<float> elements;
    for (int i = 0; i < rows; ++i) {
      for (int j = columns - 1; j >= 0; --j) {  // not sorted
        if (element(i, j) == 0) continue;
        inner.push_back(j + base);
        elements.push_back(element(i, j));
      }
      begins.push_back(static_cast<int>(elements.size()) + base);
    }
    offsets = to_device(begins);
    indices = to_device(inner);
    values = to_device(elements);
    CHECK(cusparseCreateCsr(&description, rows, columns, elements.size(), offsets, indices, values, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, static_cast<cusparseIndexBase_t>(base), CUDA_R_32F));
  }
  Sparse(const Sparse&) = delete;
  ~Sparse() {
    cusparseDestroySpMat(description);
    cudaFree(offsets);
    cudaFree(indices);
    cudaFree(values);
  }
};

void test(cusparseHandle_t handle, int base, float beta, cusparseSpGEMMAlg_t algorithm) {
  const Sparse a(kRows, kInner, base, left), b(kInner, kColumns, 1 - base, right);
  const float alpha = 1.5f, initial = 4;
  const auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  int* offsets;
  CHECK(cudaMalloc(&offsets, (kRows + 1) * sizeof(int)));
  cusparseSpMatDescr_t c;
  CHECK(cusparseCreateCsr(&c, kRows, kColumns, 0, offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  cusparseSpGEMMDescr_t product;
  CHECK(cusparseSpGEMM_createDescr(&product));
  size_t bytes[3] = {};
  void *first, *second, *third = nullptr;
  for (void* buffer = nullptr;; buffer = first) {
    CHECK(cusparseSpGEMM_workEstimation(handle, op, op, &alpha, a.description, b.description, &beta, c, CUDA_R_32F,
                                        algorithm, product, &bytes[0], buffer));
    if (buffer != nullptr) break;
    CHECK(cudaMalloc(&first, bytes[0]));
  }
  int64_t multiplications = 0, expected_multiplications = 0;
  CHECK(cusparseSpGEMM_getNumProducts(product, &multiplications));
  for (int i = 0; i < kRows * kInner * kColumns; ++i) {
    const int row = i / (kInner * kColumns), k = i / kColumns % kInner, column = i % kColumns;
    if (left(row, k) != 0 && right(k, column) != 0) ++expected_multiplications;
  }
  expect("cusparseSpGEMM_getNumProducts", 0, multiplications, expected_multiplications);
  if (algorithm == CUSPARSE_SPGEMM_ALG3) {
    CHECK(cusparseSpGEMM_estimateMemory(handle, op, op, &alpha, a.description, b.description, &beta, c, CUDA_R_32F,
                                        algorithm, product, 0.2f, &bytes[2], nullptr, nullptr));
    CHECK(cudaMalloc(&third, bytes[2]));
    CHECK(cusparseSpGEMM_estimateMemory(handle, op, op, &alpha, a.description, b.description, &beta, c, CUDA_R_32F,
                                        algorithm, product, 0.2f, &bytes[2], third, &bytes[1]));
    CHECK(cudaFree(third));
  } else {
    CHECK(cusparseSpGEMM_compute(handle, op, op, &alpha, a.description, b.description, &beta, c, CUDA_R_32F, algorithm,
                                 product, &bytes[1], nullptr));
  }
  CHECK(cudaMalloc(&second, bytes[1]));
  CHECK(cusparseSpGEMM_compute(handle, op, op, &alpha, a.description, b.description, &beta, c, CUDA_R_32F, algorithm,
                               product, &bytes[1], second));
  int64_t rows, columns, count;
  CHECK(cusparseSpMatGetSize(c, &rows, &columns, &count));
  int* indices;
  CHECK(cudaMalloc(&indices, count * sizeof(int)));
  float* values = beta == 0 ? nullptr : to_device(std::vector<float>(count, initial));
  if (beta == 0) CHECK(cudaMalloc(&values, count * sizeof(float)));
  CHECK(cusparseCsrSetPointers(c, offsets, indices, values));
  CHECK(cusparseSpGEMM_copy(handle, op, op, &alpha, a.description, b.description, &beta, c, CUDA_R_32F, algorithm,
                            product));

  const std::vector<int> begins = from_device(offsets, kRows + 1), inner = from_device(indices, count);
  const std::vector<float> elements = from_device(values, count);
  expect("the last offset", 0, begins[kRows], static_cast<double>(count));
  int at = 0;
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      double sum = 0;
      bool is_present = false;
      for (int k = 0; k < kInner; ++k) {
        sum += left(row, k) * right(k, column);
        if (left(row, k) != 0 && right(k, column) != 0) is_present = true;
      }
      if (!is_present) continue;
      if (at >= count) break;
      if (inner[at] != column && failures++ < 10) std::printf("index %d is %d, not %d\n", at, inner[at], column);
      expect("cusparseSpGEMM", at, elements[at], alpha * sum + beta * initial);
      ++at;
    }
    expect("the offsets", row + 1, begins[row + 1], at);
  }
  CHECK(cusparseSpGEMM_destroyDescr(product));
  CHECK(cusparseDestroySpMat(c));
  for (void* each :
       {first, second, static_cast<void*>(offsets), static_cast<void*>(indices), static_cast<void*>(values)}) {
    CHECK(cudaFree(each));
  }
}

int main() {
  cusparseHandle_t handle;
  CHECK(cusparseCreate(&handle));
  for (const int base : {0, 1}) {
    test(handle, base, 0, CUSPARSE_SPGEMM_DEFAULT);
    test(handle, base, -0.5f, CUSPARSE_SPGEMM_DEFAULT);
    test(handle, base, 0, CUSPARSE_SPGEMM_ALG3);
  }
  CHECK(cusparseDestroy(handle));
  if (failures == 0) std::printf("PASSED\n");
  return failures == 0 ? 0 : 1;
}
