// expect: cublasSdot reads uninitialized global memory 'y'
// Uses a vector that nothing has written.
#include <cublas_v2.h>

#include <cstdio>

int main() {
  constexpr int n = 100;
  float *x, *y, result = 0;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cudaMemset(y, 0, (n - 1) * sizeof(float));
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSdot(handle, n, x, 1, y, 1, &result);
  std::printf("%g\n", result);
  cublasDestroy(handle);
  cudaFree(x);
  cudaFree(y);
  return 0;
}
