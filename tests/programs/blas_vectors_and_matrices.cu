// Compares levels 1 to 3 of cuBLAS without the general products, and its batched factorizations, with direct sums.
#include <cublas_v2.h>

#include <cmath>
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
constexpr int kN = 4, kColumns = 3;
int failures = 0;

void expect(const char* what, Complex found, Complex expected) {
  if (std::abs(found - expected) <= 1e-10 * (1 + std::abs(expected))) return;
  if (failures++ < 10) {
    std::printf("%s: %g%+gi instead of %g%+gi\n", what, found.real(), found.imag(), expected.real(), expected.imag());
  }
}

// An array on the host, and on the device while a call uses it.
struct Array {
  std::vector<Complex> values;
  cuDoubleComplex* device = nullptr;

  explicit Array(int count, double seed = 0) : values(count) {
    for (int i = 0; i < count; ++i) values[i] = {std::cos(i * 1.7 + seed), std::sin(i * 2.3 + seed)};
    CHECK(cudaMalloc(&device, count * sizeof(Complex)));
    CHECK(cudaMemcpy(device, values.data(), count * sizeof(Complex), cudaMemcpyHostToDevice));
  }
  Array(const Array&) = delete;
  ~Array() { cudaFree(device); }
  std::vector<Complex> now() const {
    std::vector<Complex> result(values.size());
    CHECK(cudaMemcpy(result.data(), device, result.size() * sizeof(Complex), cudaMemcpyDeviceToHost));
    return result;
  }
  Complex at(int row, int column) const { return values[row + column * kN]; }
};

void test_vectors(cublasHandle_t handle) {
  const int n = 6;
  const Array x(2 * n, 1), y(n, 2);
  const cuDoubleComplex alpha = make_cuDoubleComplex(2, -1);
  CHECK(cublasZaxpy(handle, n, &alpha, x.device, 2, y.device, -1));
  std::vector<Complex> now = y.now();
  for (int i = 0; i < n; ++i)
    expect("cublasZaxpy", now[n - 1 - i], Complex(2, -1) * x.values[2 * i] + y.values[n - 1 - i]);

  cuDoubleComplex dot;
  double norm, sum;
  Complex expected = 0;
  double squares = 0, absolute = 0;
  for (int i = 0; i < n; ++i) {
    expected += std::conj(x.values[2 * i]) * now[i];
    squares += std::norm(now[i]);
    absolute += std::abs(now[i].real()) + std::abs(now[i].imag());
  }
  CHECK(cublasZdotc(handle, n, x.device, 2, y.device, 1, &dot));
  CHECK(cublasDznrm2(handle, n, y.device, 1, &norm));
  CHECK(cublasDzasum(handle, n, y.device, 1, &sum));
  expect("cublasZdotc", {dot.x, dot.y}, expected);
  expect("cublasDznrm2", norm, std::sqrt(squares));
  expect("cublasDzasum", sum, absolute);

  const double c = 0.6;
  const cuDoubleComplex s = make_cuDoubleComplex(0, 0.8);
  const Array u(n, 3), v(n, 4);
  CHECK(cublasZrot(handle, n, u.device, 1, v.device, 1, &c, &s));
  CHECK(cublasZswap(handle, n, u.device, 1, v.device, 1));
  CHECK(cublasZcopy(handle, 2, u.device, 1, v.device, 1));
  CHECK(cublasZdscal(handle, n, &c, v.device, 1));
  now = v.now();
  expect("cublasZrot", now[5], 0.6 * (0.6 * u.values[5] + Complex(0, 0.8) * v.values[5]));
  expect("cublasZcopy", now[1], 0.6 * (0.6 * v.values[1] + Complex(0, 0.8) * u.values[1]));

  // The first of equal values, counted from 1; the result in device memory.
  const float values[5] = {1, -3, 2, 3, -1};
  float* device;
  int *index, found[2];
  CHECK(cudaMalloc(&device, sizeof(values)));
  CHECK(cudaMalloc(&index, sizeof(found)));
  CHECK(cublasSetVector(5, sizeof(float), values, 1, device, 1));
  CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  CHECK(cublasIsamax(handle, 5, device, 1, index));
  CHECK(cublasIsamin(handle, 5, device, 1, index + 1));
  CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  CHECK(cudaMemcpy(found, index, sizeof(found), cudaMemcpyDeviceToHost));
  expect("cublasIsamax", found[0], 2);
  expect("cublasIsamin", found[1], 1);
  CHECK(cudaFree(device));
  CHECK(cudaFree(index));
}

// The element of a triangular matrix with an operation applied.
Complex triangular(const Array& a, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diagonal, int row,
                   int column) {
  if (op != CUBLAS_OP_N) std::swap(row, column);
  if (row == column && diagonal == CUBLAS_DIAG_UNIT) return 1;
  if (fill == CUBLAS_FILL_MODE_LOWER ? row < column : row > column) return 0;
  return op == CUBLAS_OP_C ? std::conj(a.at(row, column)) : a.at(row, column);
}

void test_triangles(cublasHandle_t handle) {
  const cuDoubleComplex alpha = make_cuDoubleComplex(2, 0);
  for (const auto fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
      for (const auto diagonal : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}) {
        const Array a(kN * kN, 0.3), b(kN * kColumns, 0.5), c(kN * kColumns, 0.7), x(kN, 0.9);
        CHECK(cublasZtrmm(handle, CUBLAS_SIDE_LEFT, fill, op, diagonal, kN, kColumns, &alpha, a.device, kN, b.device,
                          kN, c.device, kN));
        const std::vector<Complex> product = c.now();
        for (int row = 0; row < kN; ++row) {
          Complex sum = 0;
          for (int k = 0; k < kN; ++k) sum += triangular(a, fill, op, diagonal, row, k) * b.at(k, 1);
          expect("cublasZtrmm", product[row + kN], 2.0 * sum);
        }
        const cuDoubleComplex half = make_cuDoubleComplex(0.5, 0);
        CHECK(
            cublasZtrsm(handle, CUBLAS_SIDE_LEFT, fill, op, diagonal, kN, kColumns, &half, a.device, kN, c.device, kN));
        const std::vector<Complex> back = c.now();
        for (size_t i = 0; i < back.size(); ++i) expect("cublasZtrsm, left", back[i], b.values[i]);
        CHECK(cublasZtrmv(handle, fill, op, diagonal, kN, a.device, kN, x.device, 1));
        CHECK(cublasZtrsv(handle, fill, op, diagonal, kN, a.device, kN, x.device, 1));
        expect("cublasZtrsv", x.now()[2], x.values[2]);

        // From the right: a is 3 x 3 here.
        CHECK(cublasZtrmm(handle, CUBLAS_SIDE_RIGHT, fill, op, diagonal, kN, kColumns, &alpha, a.device, kN, b.device,
                          kN, c.device, kN));
        Complex sum = 0;
        for (int k = 0; k < kColumns; ++k) sum += b.at(2, k) * triangular(a, fill, op, diagonal, k, 1);
        expect("cublasZtrmm, right", c.now()[2 + kN], 2.0 * sum);
        CHECK(cublasZtrsm(handle, CUBLAS_SIDE_RIGHT, fill, op, diagonal, kN, kColumns, &half, a.device, kN, c.device,
                          kN));
        expect("cublasZtrsm, right", c.now()[2 + kN], b.at(2, 1));
      }
    }
  }
}

void test_symmetric(cublasHandle_t handle) {
  const cuDoubleComplex alpha = make_cuDoubleComplex(1, 1), beta = make_cuDoubleComplex(0.5, 0);
  const Complex by(1, 1);
  const auto hermitian = [](const Array& a, int row, int column) {  // of the lower triangle
    if (row == column) return Complex(a.at(row, row).real());
    return row > column ? a.at(row, column) : std::conj(a.at(column, row));
  };
  const Array a(kN * kN, 0.1), b(kN * kN, 0.2), c(kN * kN, 0.3), x(kN, 0.4), y(kN, 0.5);
  CHECK(cublasZhemm(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, kN, kN, &alpha, a.device, kN, b.device, kN,
                    &beta, c.device, kN));
  Complex sum = 0;
  for (int k = 0; k < kN; ++k) sum += b.at(1, k) * hermitian(a, k, 3);
  expect("cublasZhemm", c.now()[1 + 3 * kN], by * sum + 0.5 * c.at(1, 3));
  CHECK(cublasZhemv(handle, CUBLAS_FILL_MODE_LOWER, kN, &alpha, a.device, kN, x.device, 1, &beta, y.device, 1));
  sum = 0;
  for (int k = 0; k < kN; ++k) sum += hermitian(a, 2, k) * x.values[k];
  expect("cublasZhemv", y.now()[2], by * sum + 0.5 * y.values[2]);

  const double two = 2, zero = 0;
  const Array updated(kN * kN, 0.6);
  CHECK(
      cublasZherk(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_C, kN, kN, &two, a.device, kN, &zero, updated.device, kN));
  sum = 0;
  for (int k = 0; k < kN; ++k) sum += std::conj(a.at(k, 1)) * a.at(k, 2);
  expect("cublasZherk", updated.now()[1 + 2 * kN], 2.0 * sum);
  expect("the other triangle", updated.now()[2 + 1 * kN], updated.at(2, 1));

  const Array m(kN * kN, 0.7);
  CHECK(cublasZgerc(handle, kN, kN, &alpha, x.device, 1, b.device, 1, m.device, kN));
  expect("cublasZgerc", m.now()[3 + 1 * kN], m.at(3, 1) + by * x.values[3] * std::conj(b.values[1]));
  CHECK(cublasZgemv(handle, CUBLAS_OP_C, kN, kColumns, &alpha, a.device, kN, x.device, 1, &beta, b.device, 1));
  sum = 0;
  for (int k = 0; k < kN; ++k) sum += std::conj(a.at(k, 2)) * x.values[k];
  expect("cublasZgemv", b.now()[2], by * sum + 0.5 * b.values[2]);

  const Array target(kN * kN, 0.8);
  CHECK(cublasZgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, kN, kN, &alpha, a.device, kN, &beta, c.device, kN, target.device,
                    kN));
  expect("cublasZgeam", target.now()[1 + 2 * kN], by * a.at(2, 1) + 0.5 * c.now()[1 + 2 * kN]);
  CHECK(cublasZdgmm(handle, CUBLAS_SIDE_RIGHT, kN, kN, a.device, kN, x.device, 1, target.device, kN));
  expect("cublasZdgmm", target.now()[1 + 2 * kN], a.at(1, 2) * x.values[2]);
}

void test_factors(cublasHandle_t handle) {
  constexpr int kCount = 2;
  const Array a(kN * kN * kCount, 0.2), inverse(kN * kN * kCount), b(kN * kCount, 0.3);
  cuDoubleComplex* pointers[3 * kCount];
  for (int i = 0; i < kCount; ++i) {
    pointers[i] = a.device + i * kN * kN;
    pointers[kCount + i] = inverse.device + i * kN * kN;
    pointers[2 * kCount + i] = b.device + i * kN;
  }
  cuDoubleComplex** device;
  int *pivots, *info, infos[kCount], status = 7;
  CHECK(cudaMalloc(&device, sizeof(pointers)));
  CHECK(cudaMalloc(&pivots, kN * kCount * sizeof(int)));
  CHECK(cudaMalloc(&info, sizeof(infos)));
  CHECK(cudaMemcpy(device, pointers, sizeof(pointers), cudaMemcpyHostToDevice));
  CHECK(cublasZgetrfBatched(handle, kN, device, kN, pivots, info, kCount));
  CHECK(cudaMemcpy(infos, info, sizeof(infos), cudaMemcpyDeviceToHost));
  expect("cublasZgetrfBatched", infos[1], 0);
  CHECK(cublasZgetriBatched(handle, kN, device, kN, pivots, device + kCount, kN, info, kCount));
  CHECK(cublasZgetrsBatched(handle, CUBLAS_OP_C, kN, 1, device, kN, pivots, device + 2 * kCount, kN, &status, kCount));
  expect("cublasZgetrsBatched", status, 0);
  const std::vector<Complex> inverted = inverse.now(), solved = b.now();
  for (int i = 0; i < kCount; ++i) {
    for (int row = 0; row < kN; ++row) {
      Complex sum = 0;
      for (int k = 0; k < kN; ++k) sum += std::conj(a.values[k + row * kN + i * kN * kN]) * solved[k + i * kN];
      expect("cublasZgetrsBatched", sum, b.values[row + i * kN]);
      for (int column = 0; column < kN; ++column) {
        sum = 0;
        for (int k = 0; k < kN; ++k) {
          sum += a.values[row + k * kN + i * kN * kN] * inverted[k + column * kN + i * kN * kN];
        }
        expect("cublasZgetriBatched", sum, row == column ? 1 : 0);
      }
    }
  }
  CHECK(cudaFree(device));
  CHECK(cudaFree(pivots));
  CHECK(cudaFree(info));
}

int main() {
  cublasHandle_t handle;
  CHECK(cublasCreate(&handle));
  test_vectors(handle);
  test_triangles(handle);
  test_symmetric(handle);
  test_factors(handle);
  CHECK(cublasDestroy(handle));
  if (failures == 0) std::printf("PASSED\n");
  return failures == 0 ? 0 : 1;
}
