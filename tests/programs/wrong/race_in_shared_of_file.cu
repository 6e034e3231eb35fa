// expect: data race on shared memory 'of_file'
#include <cstdio>

__shared__ int of_file[64];

__global__ void reverse(int* data) {
  of_file[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = of_file[63 - threadIdx.x];
}

int main() {
  int* data;
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMemset(data, 0, 64 * sizeof(int));
  reverse<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
  std::printf("PASSED\n");
  return 0;
}
