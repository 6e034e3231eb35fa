// expect: waits here instead
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void kernel(int* data) {
  const cg::grid_group grid = cg::this_grid();
  data[grid.thread_rank()] = 1;
  if (threadIdx.x < 32) {
    grid.sync();
  } else {
    __syncthreads();
  }
}

int main() {
  int* data;
  cudaMalloc(&data, 256 * sizeof(int));
  cudaMemset(data, 0, 256 * sizeof(int));
  void* arguments[] = {&data};
  cudaLaunchCooperativeKernel(kernel, dim3(4), dim3(64), arguments);
  cudaDeviceSynchronize();
  cudaFree(data);
}
