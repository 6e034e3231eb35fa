// expect: __shfl_down_sync with mask 0xffffffff: lane 8 reads lane 16, which has exited

#include <cuda_runtime.h>

#include <cstdio>

// What a shuffle reads from a lane that does not take part is undefined. The kernel goes on, as on a GPU: lane 0 does
// not depend on it.
__global__ void sum(const int* x, int* result) {
  if (threadIdx.x >= 16) return;
  int total = x[threadIdx.x];
  for (int offset = 8; offset > 0; offset /= 2) total += __shfl_down_sync(0xffffffff, total, offset);
  if (threadIdx.x == 0) *result = total;
}

int main() {
  int host[16], *device = nullptr, total = 0;
  for (int i = 0; i < 16; ++i) host[i] = i;
  cudaMalloc(&device, 17 * sizeof(int));
  cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
  sum<<<1, 32>>>(device, device + 16);
  if (cudaMemcpy(&total, device + 16, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess || total != 120) return 2;
  cudaFree(device);
}
