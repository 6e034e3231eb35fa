// expect: data race on shared memory 'shared'
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// A reduction over a tile of two warps waits for all of its threads, and yet does not order what they wrote.
__global__ void turn(int* out) {
  __shared__ int shared[128];
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  shared[threadIdx.x] = threadIdx.x;
  const int sum = cg::reduce(tile, 1, cg::plus<int>());
  out[threadIdx.x] = sum + shared[threadIdx.x ^ 32];
}

int main() {
  int* out;
  cudaMalloc(&out, 128 * sizeof *out);
  turn<<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
