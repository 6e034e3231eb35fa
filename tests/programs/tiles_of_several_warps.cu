// Cooperative groups: tiles of 64 to 512 threads, with their barriers, votes, shuffles, reductions and scans.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>

namespace cg = cooperative_groups;

#define EXPECT(what)                                                                      \
  do {                                                                                    \
    if (!(what)) {                                                                        \
      printf("line %d, thread (%u,%u): %s\n", __LINE__, threadIdx.x, threadIdx.y, #what); \
      atomicAdd(failures, 1);                                                             \
    }                                                                                     \
  } while (0)

template <unsigned Size>
__device__ void check_tile(const cg::thread_block& block, int* failures) {
  const unsigned rank = block.thread_rank(), threads = block.size();
  auto tile = cg::tiled_partition<Size>(block);
  cg::thread_block_tile<Size> same = tile;
  const unsigned own = rank % Size, first = rank - own;
  EXPECT(tile.size() == Size && same.num_threads() == Size && tile.thread_rank() == own);
  EXPECT(same.meta_group_rank() == rank / Size && tile.meta_group_size() == threads / Size);
  EXPECT(tile.shfl(rank, Size - 3) == first + Size - 3 && tile.shfl(2.5 * first, 1) == 2.5 * first);
  EXPECT(tile.any(own == 40) && !tile.all(own == 40) && tile.all(1) && !tile.any(0));
  EXPECT(cg::reduce(tile, own, cg::plus<unsigned>()) == Size * (Size - 1) / 2);
  EXPECT(cg::reduce(tile, rank, cg::greater<unsigned>()) == first + Size - 1);
  EXPECT(cg::reduce(tile, 0.25, cg::plus<double>()) == 0.25 * Size);
  EXPECT(cg::inclusive_scan(tile, own, cg::plus<unsigned>()) == own * (own + 1) / 2);
  EXPECT(cg::exclusive_scan(tile, own, cg::plus<unsigned>()) == (own ? own * (own - 1) / 2 : 0));
  EXPECT(cg::inclusive_scan(tile, 1) == (int)own + 1 && cg::exclusive_scan(tile, 2) == 2 * (int)own);
  EXPECT(cg::inclusive_scan(tile, own == 50 ? 7 : 0, cg::greater<int>()) == (own >= 50 ? 7 : 0));
  EXPECT(cg::invoke_one_broadcast(tile, [=] { return (int)first; }) == (int)first);

  const auto warp = cg::tiled_partition<32>(tile);
  EXPECT(warp.meta_group_rank() == own / 32 && warp.meta_group_size() == Size / 32);
  EXPECT(warp.shfl(own, 2) == own / 32 * 32 + 2);
}

// Neighbors of a tile exchange values through shared memory; tile.sync() is all that orders them.
template <unsigned Size>
__device__ void check_order(const cg::thread_block& block, unsigned* shared, int* failures) {
  const unsigned rank = block.thread_rank(), own = rank % Size, first = rank - own;
  const auto tile = cg::tiled_partition<Size>(block);
  for (unsigned step = 1; step < 4; ++step) {
    shared[rank] = step * rank;
    tile.sync();
    EXPECT(shared[first + (own + 33) % Size] == step * (first + (own + 33) % Size));
    cg::sync(tile);
  }
}

__global__ void check(int* failures) {
  __shared__ cg::block_tile_memory<512> memory;
  __shared__ unsigned shared[512];
  const cg::thread_block block = cg::this_thread_block(memory);
  check_tile<64>(block, failures);
  check_tile<128>(block, failures);
  check_tile<256>(block, failures);
  check_tile<512>(block, failures);
  check_order<64>(block, shared, failures);
  block.sync();
  check_order<256>(block, shared, failures);
  const auto half = cg::tiled_partition<256>(block);
  const auto quarter = cg::tiled_partition<128>(half);
  EXPECT(quarter.meta_group_rank() == block.thread_rank() / 128 % 2 && quarter.meta_group_size() == 2);
  // Tiles do not wait for each other: only one of them works.
  if (half.meta_group_rank() == 1) EXPECT(cg::reduce(half, 1, cg::plus<int>()) == 256);
}

int main() {
  int *failures, host = 0;
  cudaMalloc(&failures, sizeof *failures);
  cudaMemset(failures, 0, sizeof *failures);
  check<<<3, dim3(32, 16)>>>(failures);
  if (cudaMemcpy(&host, failures, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess || host != 0) return 1;
  cudaFree(failures);
  puts("PASSED");
}
