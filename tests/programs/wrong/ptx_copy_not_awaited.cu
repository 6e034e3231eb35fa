// expect: asynchronous copy
// Reads what cp.async copies after waiting for all groups but the one that matters.
#include <cstdio>

__global__ void copy(const float4* x, float4* y) {
  __shared__ float4 tile[32];
  const int i = threadIdx.x;
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(tile + i))),
      "l"(x + i));
  asm volatile("cp.async.commit_group;\n" ::);
  asm volatile("cp.async.wait_group %0;\n" ::"n"(1));
  __syncthreads();
  y[i] = tile[31 - i];
}

int main() {
  float4 *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 32 * sizeof(float4));
  cudaMalloc(&y, 32 * sizeof(float4));
  cudaMemset(x, 0, 32 * sizeof(float4));
  copy<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
