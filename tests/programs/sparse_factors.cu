// Factors sparse matrices with csrilu02 and csric02: the products of the factors must be the matrix where it has
// elements. Also zero pivots and boosted ones.
#include <cusparse.h>

#include <complex>
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

using Complex = std::complex<double>;
constexpr int kSize = 8;
int failures = 0;

template <class T>
void expect(const char* what, int row, int column, T found, T expected) {
  if (std::abs(found - expected) <= 1e-12 * (1 + std::abs(expected))) return;
  if (failures++ < 10) {
    std::printf("%s, element (%d, %d): |%g| instead of |%g|\n", what, row, column, std::abs(found), std::abs(expected));
  }
}

template <class T>
T* to_device(const std::vector<T>& values) {
  T* device;
  CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

// A Hermitian matrix, positive definite, with holes that its factors would fill.
double real_at(int row, int column) {
  if (row == column) return 6 + row;
  return (row * column) % 3 == 1 || row + column == 7 ? 1.0 / (1 + row + column) : 0;
}
Complex complex_at(int row, int column) {
  return {real_at(row, column), real_at(row, column) == 0 ? 0 : 0.25 * (row - column)};
}

template <class T>
struct Csr {
  std::vector<int> offsets, indices;
  std::vector<T> host;
  int *device_offsets, *device_indices;
  T* values;
  cusparseMatDescr_t description;

  template <class Element>
  Csr(int size, int base, const Element& element) {
    offsets.push_back(base);
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        if (element(i, j) == T(0)) continue;
        indices.push_back(j + base);
        host.push_back(element(i, j));
      }
      offsets.push_back(static_cast<int>(host.size()) + base);
    }
    device_offsets = to_device(offsets);
    device_indices = to_device(indices);
    values = to_device(host);
    CHECK(cusparseCreateMatDescr(&description));
    CHECK(cusparseSetMatIndexBase(description, static_cast<cusparseIndexBase_t>(base)));
  }
  Csr(const Csr&) = delete;
  ~Csr() {
    cudaFree(device_offsets);
    cudaFree(device_indices);
    cudaFree(values);
    cusparseDestroyMatDescr(description);
  }
  int count() const { return static_cast<int>(host.size()); }
  int size() const { return static_cast<int>(offsets.size()) - 1; }
  // The values as a dense matrix by rows.
  std::vector<T> dense() const {
    std::vector<T> found(host.size()), result(size() * size());
    CHECK(cudaMemcpy(found.data(), values, found.size() * sizeof(T), cudaMemcpyDeviceToHost));
    const int base = offsets[0];
    for (int row = 0; row < size(); ++row) {
      for (int i = offsets[row] - base; i < offsets[row + 1] - base; ++i) {
        result[row * size() + indices[i] - base] = found[i];
      }
    }
    return result;
  }
};

constexpr auto kPolicy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;

// Returns the result of the query for a zero pivot: after the analysis if it finds one, else after the factorization.
cusparseStatus_t factor_lu(cusparseHandle_t handle, Csr<double>& a, csrilu02Info_t info, int* position) {
  int bytes = 0;
  void* buffer;
  CHECK(cusparseDcsrilu02_bufferSize(handle, a.size(), a.count(), a.description, a.values, a.device_offsets,
                                     a.device_indices, info, &bytes));
  CHECK(cudaMalloc(&buffer, bytes));
  CHECK(cusparseDcsrilu02_analysis(handle, a.size(), a.count(), a.description, a.values, a.device_offsets,
                                   a.device_indices, info, kPolicy, buffer));
  cusparseStatus_t status = cusparseXcsrilu02_zeroPivot(handle, info, position);
  if (status == CUSPARSE_STATUS_SUCCESS) {
    CHECK(cusparseDcsrilu02(handle, a.size(), a.count(), a.description, a.values, a.device_offsets, a.device_indices,
                            info, kPolicy, buffer));
    status = cusparseXcsrilu02_zeroPivot(handle, info, position);
  }
  CHECK(cudaFree(buffer));
  return status;
}

void test_lu(cusparseHandle_t handle, int base) {
  const auto element = [](int i, int j) { return real_at(i, j) * (i < j ? 2 : 1); };
  Csr<double> a(kSize, base, element);
  csrilu02Info_t info;
  CHECK(cusparseCreateCsrilu02Info(&info));
  int position = 0;
  CHECK(factor_lu(handle, a, info, &position));
  expect("the position", base, 0, double(position), -1.0);
  const std::vector<double> factors = a.dense();
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) {
      if (element(i, j) == 0) continue;
      double sum = 0;
      for (int k = 0; k <= i && k <= j; ++k) sum += (k == i ? 1 : factors[i * kSize + k]) * factors[k * kSize + j];
      expect("csrilu02", i, j, sum, element(i, j));
    }
  }
  CHECK(cusparseDestroyCsrilu02Info(info));
}

Complex conjugate(Complex value) { return std::conj(value); }
double conjugate(double value) { return value; }

cusparseStatus_t analyze(cusparseHandle_t handle, Csr<double>& a, csric02Info_t info, void* buffer) {
  return cusparseDcsric02_analysis(handle, a.size(), a.count(), a.description, a.values, a.device_offsets,
                                   a.device_indices, info, kPolicy, buffer);
}
cusparseStatus_t factor(cusparseHandle_t handle, Csr<double>& a, csric02Info_t info, void* buffer) {
  return cusparseDcsric02(handle, a.size(), a.count(), a.description, a.values, a.device_offsets, a.device_indices,
                          info, kPolicy, buffer);
}
cusparseStatus_t analyze(cusparseHandle_t handle, Csr<Complex>& a, csric02Info_t info, void* buffer) {
  return cusparseZcsric02_analysis(handle, a.size(), a.count(), a.description,
                                   reinterpret_cast<cuDoubleComplex*>(a.values), a.device_offsets, a.device_indices,
                                   info, kPolicy, buffer);
}
cusparseStatus_t factor(cusparseHandle_t handle, Csr<Complex>& a, csric02Info_t info, void* buffer) {
  return cusparseZcsric02(handle, a.size(), a.count(), a.description, reinterpret_cast<cuDoubleComplex*>(a.values),
                          a.device_offsets, a.device_indices, info, kPolicy, buffer);
}

template <class T, class Element>
void test_cholesky(cusparseHandle_t handle, int base, const Element& element) {
  Csr<T> a(kSize, base, element);
  csric02Info_t info;
  CHECK(cusparseCreateCsric02Info(&info));
  size_t bytes = 0;
  void* buffer;
  CHECK(cusparseDcsric02_bufferSizeExt(handle, kSize, a.count(), a.description, nullptr, a.device_offsets,
                                       a.device_indices, info, &bytes));
  CHECK(cudaMalloc(&buffer, bytes));
  CHECK(analyze(handle, a, info, buffer));
  CHECK(factor(handle, a, info, buffer));
  int position = 0;
  CHECK(cusparseXcsric02_zeroPivot(handle, info, &position));
  const std::vector<T> factors = a.dense();
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j <= i; ++j) {
      if (element(i, j) == T(0)) continue;
      T sum(0);
      for (int k = 0; k <= j; ++k) sum += factors[i * kSize + k] * conjugate(factors[j * kSize + k]);
      expect("csric02", i, j, sum, element(i, j));
    }
  }
  CHECK(cusparseDestroyCsric02Info(info));
  CHECK(cudaFree(buffer));
}

void test_pivots(cusparseHandle_t handle) {
  csrilu02Info_t info;
  CHECK(cusparseCreateCsrilu02Info(&info));
  int position = 0;
  Csr<double> missing(3, 1, [](int i, int j) { return i == 1 && j == 1 ? 0.0 : 2.0 + i + j; });
  if (factor_lu(handle, missing, info, &position) != CUSPARSE_STATUS_ZERO_PIVOT) ++failures;
  expect("a missing element", 1, 1, double(position), 2.0);

  // The second pivot is 4 - 2 * 2.
  const auto singular = [](int i, int j) { return i == 0 || j == 0 ? (i == j ? 1.0 : 2.0) : (i == j ? 4.0 : 0.0); };
  Csr<double> zero(2, 0, singular), boosted(2, 0, singular);
  if (factor_lu(handle, zero, info, &position) != CUSPARSE_STATUS_ZERO_PIVOT) ++failures;
  expect("a zero pivot", 1, 1, double(position), 1.0);
  double tolerance = 1e-3, value = 0.5;
  CHECK(cusparseDcsrilu02_numericBoost(handle, info, 1, &tolerance, &value));
  CHECK(factor_lu(handle, boosted, info, &position));
  expect("a boosted pivot", 1, 1, boosted.dense()[3], 0.5);
  CHECK(cusparseDestroyCsrilu02Info(info));
}

int main() {
  cusparseHandle_t handle;
  CHECK(cusparseCreate(&handle));
  for (const int base : {0, 1}) {
    test_lu(handle, base);
    test_cholesky<double>(handle, base, real_at);
    test_cholesky<Complex>(handle, base, complex_at);
  }
  test_pivots(handle);
  CHECK(cusparseDestroy(handle));
  if (failures == 0) std::printf("PASSED\n");
  return failures == 0 ? 0 : 1;
}
