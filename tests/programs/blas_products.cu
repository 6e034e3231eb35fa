// Compares cuBLAS' matrix products of all types with direct sums: transposed, strided and batched, with results and
// factors of both pointer modes, in a captured graph, and with leading dimensions beyond the rows.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

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
constexpr int kM = 5, kN = 7, kK = 6, kCount = 3, kPad = 2;

Complex value_of(float x) { return x; }
Complex value_of(double x) { return x; }
Complex value_of(__half x) { return __half2float(x); }
Complex value_of(__nv_bfloat16 x) { return __bfloat162float(x); }
Complex value_of(cuComplex x) { return {x.x, x.y}; }
Complex value_of(cuDoubleComplex x) { return {x.x, x.y}; }

template <class T>
T make(double real, double) {
  return T(static_cast<float>(real));
}
template <>
cuComplex make(double real, double imaginary) {
  return make_cuComplex(static_cast<float>(real), static_cast<float>(imaginary));
}
template <>
cuDoubleComplex make(double real, double imaginary) {
  return make_cuDoubleComplex(real, imaginary);
}

// A matrix of each product, in device memory and on the host. Small integers, so that all types are exact.
template <class T>
struct Matrices {
  int rows, columns, leading;
  long long stride;
  std::vector<T> host;
  T* device;

  Matrices(int rows_, int columns_, int seed) : rows(rows_), columns(columns_), leading(rows_ + kPad) {
    stride = static_cast<long long>(leading) * columns + 1;
    host.resize(stride * kCount);
    for (size_t i = 0; i < host.size(); ++i) {
      host[i] = make<T>(static_cast<int>((i * 7 + seed) % 9) - 4, static_cast<int>((i * 5 + seed) % 7) - 3);
    }
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Matrices() { cudaFree(device); }
  Complex at(int product, int row, int column, cublasOperation_t op) const {
    if (op != CUBLAS_OP_N) std::swap(row, column);
    const Complex value = value_of(host[product * stride + row + static_cast<long long>(column) * leading]);
    return op == CUBLAS_OP_C ? std::conj(value) : value;
  }
};

int failures = 0;

template <class T>
void compare(const char* what, const Matrices<T>& a, cublasOperation_t op_a, const Matrices<T>& b,
             cublasOperation_t op_b, const Matrices<T>& c, Complex alpha, Complex beta, double tolerance) {
  std::vector<T> found(c.host.size());
  CHECK(cudaMemcpy(found.data(), c.device, found.size() * sizeof(T), cudaMemcpyDeviceToHost));
  for (int product = 0; product < kCount; ++product) {
    for (int column = 0; column < c.columns; ++column) {
      for (int row = 0; row < c.leading; ++row) {
        Complex sum = 0;
        for (int k = 0; k < kK; ++k) sum += a.at(product, row, k, op_a) * b.at(product, k, column, op_b);
        const size_t at = product * c.stride + row + static_cast<size_t>(column) * c.leading;
        const Complex old = value_of(c.host[at]), value = value_of(found[at]);
        const Complex expected = row < c.rows ? alpha * sum + beta * old : old;
        if (!(std::abs(value - expected) <= tolerance * (1 + std::abs(expected))) && failures++ < 5) {
          std::printf("%s: C%d(%d, %d) is %g%+gi instead of %g%+gi\n", what, product, row, column, value.real(),
                      value.imag(), expected.real(), expected.imag());
        }
      }
      if (product * c.stride + c.leading * c.columns > static_cast<long long>(c.host.size())) std::exit(1);
    }
  }
}

// Calls call(alpha, a, b, beta, c) with both operands stored plainly, transposed, and adjoint.
template <class T, class Call>
void test(const char* what, double tolerance, const Call& call) {
  for (const cublasOperation_t op_a : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    for (const cublasOperation_t op_b : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
      const Matrices<T> a(op_a == CUBLAS_OP_N ? kM : kK, op_a == CUBLAS_OP_N ? kK : kM, 1);
      const Matrices<T> b(op_b == CUBLAS_OP_N ? kK : kN, op_b == CUBLAS_OP_N ? kN : kK, 2);
      const Matrices<T> c(kM, kN, 3);
      const T alpha = make<T>(2, 1), beta = make<T>(-1, 0.5);
      call(op_a, op_b, alpha, a, b, beta, c);
      compare(what, a, op_a, b, op_b, c, value_of(alpha), value_of(beta), tolerance);
    }
  }
}

template <class T>
std::vector<T*> starts(const Matrices<T>& m) {
  std::vector<T*> all;
  for (int i = 0; i < kCount; ++i) all.push_back(m.device + i * m.stride);
  return all;
}

template <class T>
T** to_device(const std::vector<T*>& pointers) {
  T** device;
  CHECK(cudaMalloc(&device, pointers.size() * sizeof(T*)));
  CHECK(cudaMemcpy(device, pointers.data(), pointers.size() * sizeof(T*), cudaMemcpyHostToDevice));
  return device;
}

int main() {
  cublasHandle_t handle;
  CHECK(cublasCreate(&handle));
#define TEST_STRIDED(X, T, tolerance)                                                                                  \
  test<T>("cublas" #X "gemmStridedBatched", tolerance,                                                                 \
          [&](auto op_a, auto op_b, T alpha, auto& a, auto& b, T beta, auto& c) {                                      \
            CHECK(cublas##X##gemmStridedBatched(handle, op_a, op_b, kM, kN, kK, &alpha, a.device, a.leading, a.stride, \
                                                b.device, b.leading, b.stride, &beta, c.device, c.leading, c.stride,   \
                                                kCount));                                                              \
          });                                                                                                          \
  test<T>("cublas" #X "gemm", tolerance, [&](auto op_a, auto op_b, T alpha, auto& a, auto& b, T beta, auto& c) {       \
    const auto in_a = starts(a), in_b = starts(b), in_c = starts(c);                                                   \
    for (int i = 0; i < kCount; ++i) {                                                                                 \
      CHECK(cublas##X##gemm(handle, op_a, op_b, kM, kN, kK, &alpha, in_a[i], a.leading, in_b[i], b.leading, &beta,     \
                            in_c[i], c.leading));                                                                      \
    }                                                                                                                  \
  });                                                                                                                  \
  test<T>("cublas" #X "gemmBatched", tolerance,                                                                        \
          [&](auto op_a, auto op_b, T alpha, auto& a, auto& b, T beta, auto& c) {                                      \
            T **in_a = to_device(starts(a)), **in_b = to_device(starts(b)), **in_c = to_device(starts(c));             \
            CHECK(cublas##X##gemmBatched(handle, op_a, op_b, kM, kN, kK, &alpha, in_a, a.leading, in_b, b.leading,     \
                                         &beta, in_c, c.leading, kCount));                                             \
            for (T * *each : {in_a, in_b, in_c}) CHECK(cudaFree(each));                                                \
          })
  TEST_STRIDED(S, float, 1e-6);
  TEST_STRIDED(D, double, 1e-12);
  TEST_STRIDED(C, cuComplex, 1e-6);
  TEST_STRIDED(Z, cuDoubleComplex, 1e-12);
  TEST_STRIDED(H, __half, 1e-3);

  test<__nv_bfloat16>("cublasGemmStridedBatchedEx", 1e-2,
                      [&](auto op_a, auto op_b, __nv_bfloat16 alpha, auto& a, auto& b, __nv_bfloat16 beta, auto& c) {
                        const float factors[2] = {__bfloat162float(alpha), __bfloat162float(beta)};
                        CHECK(cublasGemmStridedBatchedEx(
                            handle, op_a, op_b, kM, kN, kK, &factors[0], a.device, CUDA_R_16BF, a.leading, a.stride,
                            b.device, CUDA_R_16BF, b.leading, b.stride, &factors[1], c.device, CUDA_R_16BF, c.leading,
                            c.stride, kCount, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
                      });

  // Factors in device memory, and the product as a node of a graph.
  test<double>("a captured cublasDgemmStridedBatched", 1e-12,
               [&](auto op_a, auto op_b, double alpha, auto& a, auto& b, double beta, auto& c) {
                 double* factors;
                 CHECK(cudaMalloc(&factors, 2 * sizeof(double)));
                 cudaStream_t stream;
                 cudaGraph_t graph;
                 cudaGraphExec_t executable;
                 CHECK(cudaStreamCreate(&stream));
                 CHECK(cublasSetStream(handle, stream));
                 CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
                 CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
                 CHECK(cublasDgemmStridedBatched(handle, op_a, op_b, kM, kN, kK, factors, a.device, a.leading, a.stride,
                                                 b.device, b.leading, b.stride, factors + 1, c.device, c.leading,
                                                 c.stride, kCount));
                 CHECK(cudaStreamEndCapture(stream, &graph));
                 CHECK(cudaGraphInstantiate(&executable, graph, 0));
                 const double values[2] = {alpha, beta};
                 CHECK(cudaMemcpy(factors, values, sizeof(values), cudaMemcpyHostToDevice));
                 CHECK(cudaGraphLaunch(executable, stream));
                 CHECK(cudaStreamSynchronize(stream));
                 CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
                 CHECK(cublasSetStream(handle, nullptr));
                 CHECK(cudaGraphExecDestroy(executable));
                 CHECK(cudaGraphDestroy(graph));
                 CHECK(cudaStreamDestroy(stream));
                 CHECK(cudaFree(factors));
               });

  // Products of 8-bit integers are exact, and beta = 0 does not read C.
  signed char* bytes;
  int *sums, found[4];
  const signed char ones[4] = {100, -100, 100, 27};
  const int one = 1, zero = 0;
  CHECK(cudaMalloc(&bytes, sizeof(ones)));
  CHECK(cudaMalloc(&sums, sizeof(found)));
  CHECK(cudaMemcpy(bytes, ones, sizeof(ones), cudaMemcpyHostToDevice));
  CHECK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 4, &one, bytes, CUDA_R_8I, 4, bytes, CUDA_R_8I, 4, &zero,
                     sums, CUDA_R_32I, 1, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
  CHECK(cudaMemcpy(found, sums, sizeof(int), cudaMemcpyDeviceToHost));
  if (found[0] != 30729) failures += std::printf("cublasGemmEx: %d instead of 30729\n", found[0]);
  CHECK(cudaFree(bytes));
  CHECK(cudaFree(sums));
  CHECK(cublasDestroy(handle));
  if (failures == 0) std::printf("PASSED\n");
  return failures == 0 ? 0 : 1;
}
