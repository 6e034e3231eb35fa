// expect: __syncthreads() is not reached by all threads of the block

#include <cuda_runtime.h>

#include <cstdio>

// The barrier of a GPU does not wait for threads that have returned, so the kernel goes on.
__global__ void sum(const int* x, int n, int* result) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  if (threadIdx.x >= n) return;
  __syncthreads();
  atomicAdd(&total, x[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) *result = total;
}

int main() {
  int host[50], *device = nullptr, total = 0;
  for (int& each : host) each = 2;
  cudaMalloc(&device, 51 * sizeof(int));
  cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
  sum<<<1, 64>>>(device, 50, device + 50);
  if (cudaMemcpy(&total, device + 50, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess || total != 100) return 2;
  cudaFree(device);
}
