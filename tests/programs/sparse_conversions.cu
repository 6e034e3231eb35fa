// cuSPARSE: CSR to CSC with and without values, and the nonzeros of dense matrices by row and column.
#include <cusparse.h>

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

int failures = 0;

template <class T>
T* to_device(const std::vector<T>& values) {
  T* device;
  CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

template <class T>
void expect(const char* what, const T* device, const std::vector<T>& expected) {
  std::vector<T> found(expected.size());
  CHECK(cudaMemcpy(found.data(), device, found.size() * sizeof(T), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] != expected[i] && failures++ < 10) {
      std::printf("%s, element %zu: %g instead of %g\n", what, i, double(found[i]), double(expected[i]));
    }
  }
}

//  1 . 2 .
//  . . 3 4
//  5 . . 6
void convert(cusparseHandle_t handle, int base) {
  auto based = [&](std::vector<int> indices) {
    for (int& each : indices) each += base;
    return indices;
  };
  float* const values = to_device<float>({1, 2, 3, 4, 5, 6});
  int *const offsets = to_device(based({0, 2, 4, 6})), *const columns = to_device(based({0, 2, 2, 3, 0, 3}));
  for (const auto action : {CUSPARSE_ACTION_NUMERIC, CUSPARSE_ACTION_SYMBOLIC}) {
    float* const csc_values = to_device<float>({0, 0, 0, 0, 0, 0});
    int *csc_offsets, *csc_rows;
    CHECK(cudaMalloc(&csc_offsets, 5 * sizeof(int)));
    CHECK(cudaMalloc(&csc_rows, 6 * sizeof(int)));
    size_t bytes = 0;
    void* buffer;
    CHECK(cusparseCsr2cscEx2_bufferSize(handle, 3, 4, 6, values, offsets, columns, csc_values, csc_offsets, csc_rows,
                                        CUDA_R_32F, action, cusparseIndexBase_t(base), CUSPARSE_CSR2CSC_ALG1, &bytes));
    CHECK(cudaMalloc(&buffer, bytes));
    CHECK(cusparseCsr2cscEx2(handle, 3, 4, 6, values, offsets, columns, csc_values, csc_offsets, csc_rows, CUDA_R_32F,
                             action, cusparseIndexBase_t(base), CUSPARSE_CSR2CSC_ALG1, buffer));
    expect("cscColPtr", csc_offsets, based({0, 2, 2, 4, 6}));
    expect("cscRowInd", csc_rows, based({0, 2, 0, 1, 1, 2}));
    const bool has_values = action == CUSPARSE_ACTION_NUMERIC;
    expect("cscVal", csc_values, has_values ? std::vector<float>{1, 5, 2, 3, 4, 6} : std::vector<float>(6));
    for (void* each : {buffer, (void*)csc_values, (void*)csc_offsets, (void*)csc_rows}) CHECK(cudaFree(each));
  }
  for (void* each : {(void*)values, (void*)offsets, (void*)columns}) CHECK(cudaFree(each));
}

void count(cusparseHandle_t handle) {
  cusparseMatDescr_t description;
  CHECK(cusparseCreateMatDescr(&description));
  // Columns of three elements, and one more that is not the matrix's.
  double* const a = to_device<double>({1, 0, 5, 9, 0, 0, 0, 9, 2, 3, 0, 9, 0, 4, 6, 9});
  int *counts, *total, on_host = 0;
  CHECK(cudaMalloc(&counts, 4 * sizeof(int)));
  CHECK(cudaMalloc(&total, sizeof(int)));
  CHECK(cusparseDnnz(handle, CUSPARSE_DIRECTION_COLUMN, 3, 4, description, a, 4, counts, &on_host));
  expect("nonzeros of columns", counts, {2, 0, 2, 2});
  if (on_host != 6) failures += std::printf("%d nonzeros instead of 6\n", on_host);
  CHECK(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE));
  CHECK(cusparseDnnz(handle, CUSPARSE_DIRECTION_ROW, 3, 4, description, a, 4, counts, total));
  expect("nonzeros of rows", counts, {2, 2, 2});
  expect("all nonzeros", total, {6});
  for (void* each : {(void*)a, (void*)counts, (void*)total}) CHECK(cudaFree(each));
  CHECK(cusparseDestroyMatDescr(description));
}

int main() {
  cusparseHandle_t handle;
  CHECK(cusparseCreate(&handle));
  convert(handle, 0);
  convert(handle, 1);
  count(handle);
  CHECK(cusparseDestroy(handle));
  if (failures > 0) return 1;
  std::puts("PASSED");
}
