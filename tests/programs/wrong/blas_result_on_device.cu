// expect: cublasSnrm2 uses device memory on the host: the result
// Wants the result in device memory, without setting the pointer mode.
#include <cublas_v2.h>

#include <cstdio>

int main() {
  float *x, *result;
  cudaMalloc(&x, 8 * sizeof(float));
  cudaMalloc(&result, sizeof(float));
  cudaMemset(x, 0, 8 * sizeof(float));
  cublasHandle_t handle;
  cublasCreate(&handle);
  std::printf("%d\n", cublasSnrm2(handle, 8, x, 1, result));
  cublasDestroy(handle);
  cudaFree(x);
  cudaFree(result);
  return 0;
}
