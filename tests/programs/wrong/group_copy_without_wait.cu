// expect: read of shared memory 'tile' during an asynchronous copy
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace cg = cooperative_groups;

__global__ void kernel(int* data) {
  __shared__ __align__(16) int tile[64];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile, data, sizeof(tile));
  block.sync();
  data[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
  int* data;
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMemset(data, 0, 64 * sizeof(int));
  kernel<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
