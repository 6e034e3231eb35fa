// expect: grid.sync() in a launch that is not cooperative
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void kernel(int* data) {
  data[threadIdx.x] = 1;
  cg::this_grid().sync();
}

int main() {
  int* data;
  cudaMalloc(&data, 256 * sizeof(int));
  cudaMemset(data, 0, 256 * sizeof(int));
  kernel<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
