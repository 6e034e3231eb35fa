// expect: threads of the block wait for each other forever
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// One warp of the second tile has returned.
__global__ void wait(int* out) {
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  if (threadIdx.x >= 96) return;
  tile.sync();
  out[threadIdx.x] = 1;
}

int main() {
  int* out;
  cudaMalloc(&out, 128 * sizeof *out);
  wait<<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
