// Solves triangular systems with cusparseSpSV and cusparseSpSM, and multiplies the solutions by the dense triangle:
// both formats, triangles and diagonals, all operations, new values, in place, and complex numbers.
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
constexpr int kSize = 6, kWidth = 3;
int failures = 0;

template <class T>
void expect(const char* what, int at, T found, T expected) {
  if (std::abs(found - expected) <= 1e-12 * (1 + std::abs(expected))) return;
  if (failures++ < 10)
    std::printf("%s, element %d: |%g| instead of |%g|\n", what, at, std::abs(found), std::abs(expected));
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

template <class T>
T make(double real, double imaginary) {
  if constexpr (sizeof(T) == sizeof(double))
    return real;
  else
    return T(real, imaginary);
}
template <class T>
T conjugate(T value) {
  if constexpr (sizeof(T) == sizeof(double))
    return value;
  else
    return std::conj(value);
}
template <class T>
constexpr cudaDataType kType = sizeof(T) == sizeof(double) ? CUDA_R_64F : CUDA_C_64F;

// A full pattern with holes: the entries outside the triangle must be ignored.
template <class T>
T element(int row, int column) {
  if (row != column && (row + 2 * column) % 3 == 0) return T(0);
  return make<T>(row == column ? 4.0 + row : 1.0 / (1 + row + 2 * column), 0.25 * (row - column) + 0.125);
}

struct Case {
  cusparseFormat_t format;
  int base;
  cusparseFillMode_t fill;
  cusparseDiagType_t diagonal;
  cusparseOperation_t op;
};

// The element of op(triangle).
template <class T>
T triangle_at(const Case& c, int row, int column, double scale, double diagonal_scale) {
  const bool plain = c.op == CUSPARSE_OPERATION_NON_TRANSPOSE;
  const int i = plain ? row : column, j = plain ? column : row;
  if (c.fill == CUSPARSE_FILL_MODE_LOWER ? j > i : j < i) return T(0);
  if (i == j && c.diagonal == CUSPARSE_DIAG_TYPE_UNIT) return T(1);
  const T value = element<T>(i, j) * (i == j ? diagonal_scale : scale);
  return c.op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugate(value) : value;
}

template <class T>
struct Matrix {
  cusparseSpMatDescr_t description = nullptr;
  int *first = nullptr, *second = nullptr;
  T *values = nullptr, *doubled = nullptr, *diagonal = nullptr;

  explicit Matrix(const Case& c) {
    std::vector<int> offsets{c.base}, rows, columns;
    std::vector<T> elements, twice, other_diagonal;
    for (int i = 0; i < kSize; ++i) {
      for (int j = kSize - 1; j >= 0; --j) {  // not sorted
        if (element<T>(i, j) == T(0)) continue;
        rows.push_back(i + c.base);
        columns.push_back(j + c.base);
        elements.push_back(element<T>(i, j));
        twice.push_back(2.0 * element<T>(i, j));
      }
      offsets.push_back(static_cast<int>(elements.size()) + c.base);
      other_diagonal.push_back(3.0 * element<T>(i, i));
    }
    const bool is_csr = c.format == CUSPARSE_FORMAT_CSR;
    first = to_device(is_csr ? offsets : rows);
    second = to_device(columns);
    values = to_device(elements);
    doubled = to_device(twice);
    diagonal = to_device(other_diagonal);
    const int64_t count = elements.size();
    const auto base = static_cast<cusparseIndexBase_t>(c.base);
    if (is_csr) {
      CHECK(cusparseCreateCsr(&description, kSize, kSize, count, first, second, values, CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_32I, base, kType<T>));
    } else {
      CHECK(cusparseCreateCoo(&description, kSize, kSize, count, first, second, values, CUSPARSE_INDEX_32I, base,
                              kType<T>));
    }
    cusparseFillMode_t fill = c.fill;
    cusparseDiagType_t type = c.diagonal;
    CHECK(cusparseSpMatSetAttribute(description, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)));
    CHECK(cusparseSpMatSetAttribute(description, CUSPARSE_SPMAT_DIAG_TYPE, &type, sizeof(type)));
    CHECK(cusparseSpMatGetAttribute(description, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)));
    if (fill != c.fill) ++failures;
  }
  Matrix(const Matrix&) = delete;
  ~Matrix() {
    cusparseDestroySpMat(description);
    for (void* each : {static_cast<void*>(first), static_cast<void*>(second), static_cast<void*>(values),
                       static_cast<void*>(doubled), static_cast<void*>(diagonal)}) {
      cudaFree(each);
    }
  }
};

// Multiplies the solution, which is at y(row), and compares with alpha times the right side.
template <class T, class Solution, class Right>
void expect_solution(const char* what, const Case& c, double scale, double diagonal_scale, const Solution& y,
                     const Right& right) {
  for (int row = 0; row < kSize; ++row) {
    T sum(0);
    for (int k = 0; k < kSize; ++k) sum += triangle_at<T>(c, row, k, scale, diagonal_scale) * y(k);
    expect<T>(what, row, sum, right(row));
  }
}

template <class T>
void test_vectors(cusparseHandle_t handle, const Case& c) {
  const Matrix<T> a(c);
  std::vector<T> x(kSize);
  for (int i = 0; i < kSize; ++i) x[i] = make<T>(i + 1, 2 - i);
  T *device_x = to_device(x), *device_y = to_device(x);
  const T alpha = make<T>(2, 1);
  cusparseDnVecDescr_t vector_x, vector_y;
  CHECK(cusparseCreateDnVec(&vector_x, kSize, device_x, kType<T>));
  CHECK(cusparseCreateDnVec(&vector_y, kSize, device_y, kType<T>));
  cusparseSpSVDescr_t solver;
  CHECK(cusparseSpSV_createDescr(&solver));
  size_t bytes = 0;
  void* buffer;
  const auto algorithm = CUSPARSE_SPSV_ALG_DEFAULT;
  CHECK(cusparseSpSV_bufferSize(handle, c.op, &alpha, a.description, vector_x, vector_y, kType<T>, algorithm, solver,
                                &bytes));
  CHECK(cudaMalloc(&buffer, bytes));
  CHECK(cusparseSpSV_analysis(handle, c.op, &alpha, a.description, vector_x, vector_y, kType<T>, algorithm, solver,
                              buffer));
  const auto solve = [&](const char* what, double scale, double diagonal_scale) {
    CHECK(cusparseSpSV_solve(handle, c.op, &alpha, a.description, vector_x, vector_y, kType<T>, algorithm, solver));
    const std::vector<T> y = from_device(device_y, kSize);
    expect_solution<T>(
        what, c, scale, diagonal_scale, [&](int k) { return y[k]; }, [&](int k) { return alpha * x[k]; });
  };
  solve("cusparseSpSV", 1, 1);
  CHECK(cusparseSpSV_updateMatrix(handle, solver, a.doubled, CUSPARSE_SPSV_UPDATE_GENERAL));
  solve("cusparseSpSV with new values", 2, 2);
  CHECK(cusparseSpSV_updateMatrix(handle, solver, a.diagonal, CUSPARSE_SPSV_UPDATE_DIAGONAL));
  solve("cusparseSpSV with a new diagonal", 2, 3);
  CHECK(cusparseSpSV_destroyDescr(solver));
  CHECK(cusparseDestroyDnVec(vector_x));
  CHECK(cusparseDestroyDnVec(vector_y));
  CHECK(cudaFree(buffer));
  CHECK(cudaFree(device_x));
  CHECK(cudaFree(device_y));
}

// B by rows and transposed, C by columns; then in place.
template <class T>
void test_matrices(cusparseHandle_t handle, const Case& c) {
  const Matrix<T> a(c);
  std::vector<T> b(kSize * kWidth);
  for (int i = 0; i < kSize * kWidth; ++i) b[i] = make<T>(1 + i, i % 4);
  T *device_b = to_device(b), *device_c = to_device(b);
  const T alpha = make<T>(-1, 0.5);
  T* device_alpha = to_device(std::vector<T>{alpha});
  cusparseDnMatDescr_t matrix_b, matrix_c;  // B is kWidth x kSize by rows
  CHECK(cusparseCreateDnMat(&matrix_b, kWidth, kSize, kSize, device_b, kType<T>, CUSPARSE_ORDER_ROW));
  CHECK(cusparseCreateDnMat(&matrix_c, kSize, kWidth, kSize, device_c, kType<T>, CUSPARSE_ORDER_COL));
  cusparseSpSMDescr_t solver;
  CHECK(cusparseSpSM_createDescr(&solver));
  size_t bytes = 0;
  void* buffer;
  const auto transposed = CUSPARSE_OPERATION_TRANSPOSE, plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const auto algorithm = CUSPARSE_SPSM_ALG_DEFAULT;
  CHECK(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE));
  CHECK(cusparseSpSM_bufferSize(handle, c.op, transposed, device_alpha, a.description, matrix_b, matrix_c, kType<T>,
                                algorithm, solver, &bytes));
  CHECK(cudaMalloc(&buffer, bytes));
  CHECK(cusparseSpSM_analysis(handle, c.op, transposed, device_alpha, a.description, matrix_b, matrix_c, kType<T>,
                              algorithm, solver, buffer));
  CHECK(cusparseSpSM_solve(handle, c.op, transposed, device_alpha, a.description, matrix_b, matrix_c, kType<T>,
                           algorithm, solver));
  const auto expect_columns = [&](const char* what, double scale, const std::vector<T>& right) {
    const std::vector<T> found = from_device(device_c, kSize * kWidth);
    for (int column = 0; column < kWidth; ++column) {
      expect_solution<T>(
          what, c, scale, scale, [&](int k) { return found[k + column * kSize]; },
          [&](int k) { return alpha * right[k + column * kSize]; });
    }
  };
  expect_columns("cusparseSpSM", 1, b);
  const std::vector<T> before = from_device(device_c, kSize * kWidth);
  CHECK(cusparseSpSM_updateMatrix(handle, solver, a.doubled, CUSPARSE_SPSM_UPDATE_GENERAL));
  CHECK(cusparseSpSM_solve(handle, c.op, plain, device_alpha, a.description, matrix_c, matrix_c, kType<T>, algorithm,
                           solver));
  expect_columns("cusparseSpSM in place", 2, before);
  CHECK(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
  CHECK(cusparseSpSM_destroyDescr(solver));
  CHECK(cusparseDestroyDnMat(matrix_b));
  CHECK(cusparseDestroyDnMat(matrix_c));
  CHECK(cudaFree(buffer));
  CHECK(cudaFree(device_alpha));
  CHECK(cudaFree(device_b));
  CHECK(cudaFree(device_c));
}

int main() {
  cusparseHandle_t handle;
  CHECK(cusparseCreate(&handle));
  for (const auto format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_COO}) {
    for (const auto fill : {CUSPARSE_FILL_MODE_LOWER, CUSPARSE_FILL_MODE_UPPER}) {
      for (const auto diagonal : {CUSPARSE_DIAG_TYPE_NON_UNIT, CUSPARSE_DIAG_TYPE_UNIT}) {
        for (const auto op :
             {CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE}) {
          const Case each{format, format == CUSPARSE_FORMAT_CSR ? 0 : 1, fill, diagonal, op};
          test_vectors<double>(handle, each);
          test_vectors<Complex>(handle, each);
          test_matrices<double>(handle, each);
          test_matrices<Complex>(handle, each);
        }
      }
    }
  }
  CHECK(cusparseDestroy(handle));
  if (failures == 0) std::printf("PASSED\n");
  return failures == 0 ? 0 : 1;
}
