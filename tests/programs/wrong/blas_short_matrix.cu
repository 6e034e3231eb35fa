// expect: out-of-bounds read of array B by cublasSgemm
// Multiplies a matrix that is one column too short.
#include <cublas_v2.h>

#include <cstdio>

int main() {
  constexpr int n = 8;
  float *a, *b, *c;
  cudaMalloc(&a, n * n * sizeof(float));
  cudaMalloc(&b, n * (n - 1) * sizeof(float));
  cudaMalloc(&c, n * n * sizeof(float));
  cudaMemset(a, 0, n * n * sizeof(float));
  cudaMemset(b, 0, n * (n - 1) * sizeof(float));
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  const cublasStatus_t status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
  std::printf("%s\n", cublasGetStatusName(status));
  cublasDestroy(handle);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  return 0;
}
