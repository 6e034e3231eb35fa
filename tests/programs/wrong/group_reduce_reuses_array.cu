// expect: group_reduce_reuses_array.cu:18:
// Sums by warps, then over warps, with one array for all rows: no barrier keeps a fast warp from overwriting it.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void sums(float* to, const float* from) {
  __shared__ float partial[32];
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  for (int row = 0; row < 2; ++row) {
    const float sum = cg::reduce(warp, from[row * 1024 + block.thread_rank()], cg::plus<float>());
    if (warp.thread_rank() == 0) partial[warp.meta_group_rank()] = sum;
    block.sync();
    to[row] = cg::reduce(warp, partial[warp.thread_rank()], cg::plus<float>());
  }
}

int main() {
  float *to, *from;
  cudaMalloc(&to, 2 * sizeof(float));
  cudaMalloc(&from, 2048 * sizeof(float));
  cudaMemset(from, 0, 2048 * sizeof(float));
  sums<<<1, 1024>>>(to, from);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(to);
  cudaFree(from);
  return 0;
}
