// expect: barriers of a part of the block are not supported
// A named barrier that only a warp of the block reaches.
#include <cstdio>

__global__ void wait(int* y) {
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 32;" ::: "memory");
  y[threadIdx.x] = 1;
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, 64 * sizeof(int));
  wait<<<1, 64>>>(y);
  cudaDeviceSynchronize();
  cudaFree(y);
  return 0;
}
