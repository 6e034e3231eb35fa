// expect: data race on shared memory 'room'
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void kernel(int* data) {
  __shared__ int room[64];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  room[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = room[threadIdx.x ^ 1] + tile.shfl(threadIdx.x, 0);
}

int main() {
  int* data;
  cudaMalloc(&data, 256 * sizeof(int));
  cudaMemset(data, 0, 256 * sizeof(int));
  kernel<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
