// A cooperative launch: blocks read what others wrote before grid.sync(), round after round.
#include <cooperative_groups.h>

#include <cstdio>

namespace cg = cooperative_groups;

constexpr int kBlocks = 6, kThreads = 64, kRounds = 20;

template <class T>
__global__ void rounds(T* data, T* totals, int count) {
  __shared__ int sum;
  const cg::grid_group grid = cg::this_grid();
  const auto own = grid.thread_rank();
  if (!grid.is_valid()) return;
  for (int round = 0; round < count; ++round) {
    const T got = data[(own + 37) % grid.size()];
    grid.sync();
    data[own] = got + 1;
    cg::sync(grid);
  }
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, data[own]);
  __syncthreads();
  if (threadIdx.x == 0) totals[grid.block_rank()] = sum;
  grid.sync();
  if (own != 0) return;
  for (unsigned block = 1; block < grid.num_blocks(); ++block) totals[0] += totals[block];
}

int main() {
  int *data, *totals, found = 0, count = kRounds, device_has_it = 0;
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess) device_has_it = properties.cooperativeLaunch;
  cudaMalloc(&data, kBlocks * kThreads * sizeof(int));
  cudaMalloc(&totals, kBlocks * sizeof(int));
  cudaMemset(data, 0, kBlocks * kThreads * sizeof(int));
  void* arguments[] = {&data, &totals, &count};
  cudaError_t error = cudaLaunchCooperativeKernel((void*)rounds<int>, dim3(kBlocks), dim3(kThreads), arguments, 0, 0);
  if (error == cudaSuccess) error = cudaMemcpy(&found, totals, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(data);
  cudaFree(totals);
  const bool passed = error == cudaSuccess && device_has_it && found == kBlocks * kThreads * kRounds;
  std::printf("%s: %d, %s\n", passed ? "PASSED" : "FAILED", found, cudaGetErrorString(error));
  return passed ? 0 : 1;
}
