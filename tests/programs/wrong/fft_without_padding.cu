// expect: out-of-bounds write of array odata by cufftExecR2C
// Transforms real data in place, in an array without room for the last complex element.
#include <cufft.h>

#include <cstdio>

int main() {
  constexpr int n = 64;
  float* data;
  cudaMalloc(&data, n * sizeof(float));
  cudaMemset(data, 0, n * sizeof(float));
  cufftHandle plan;
  cufftPlan1d(&plan, n, CUFFT_R2C, 1);
  std::printf("%d\n", cufftExecR2C(plan, data, reinterpret_cast<cufftComplex*>(data)));
  cufftDestroy(plan);
  cudaFree(data);
  return 0;
}
