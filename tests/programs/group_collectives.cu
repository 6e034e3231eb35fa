// Cooperative groups: blocks, tiles, coalesced groups and partitions, with their shuffles, votes, reductions and scans.
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

struct Wide {
  double a, b;
  int c;
};

__device__ void check_tiles(cg::thread_block block, int* failures) {
  const unsigned rank = block.thread_rank();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  EXPECT(warp.size() == 32 && warp.num_threads() == 32 && warp.thread_rank() == rank % 32);
  EXPECT(warp.meta_group_rank() == rank / 32 && warp.meta_group_size() == 4);
  const auto quad = cg::tiled_partition<4>(warp);
  EXPECT(quad.meta_group_rank() == rank % 32 / 4 && quad.meta_group_size() == 8);
  EXPECT(quad.shfl(rank, 1) == rank / 4 * 4 + 1);
  EXPECT(quad.shfl_down(rank, 1) == (rank % 4 == 3 ? rank : rank + 1));
  EXPECT(quad.shfl_up(rank, 2) == (rank % 4 < 2 ? rank : rank - 2));
  EXPECT(warp.shfl_xor(rank, 5) == (rank ^ 5));
  const Wide got = warp.shfl(Wide{1.0 * rank, 2.0, (int)rank}, 3);
  EXPECT(got.a == rank / 32 * 32 + 3 && got.b == 2 && got.c == (int)got.a);
  EXPECT(quad.ballot(rank % 4 == 2) == 4);
  EXPECT(quad.any(rank % 4 == 2) && !quad.all(rank % 4 == 2) && quad.all(1));
  EXPECT(warp.match_any(rank % 2) == (rank % 2 ? 0xaaaaaaaau : 0x55555555u));
  int same = -1;
  EXPECT(warp.match_all(7, same) == ~0u && same);
  EXPECT(warp.match_all((int)rank, same) == 0 && !same);
}

__device__ void check_reductions(cg::thread_block block, int* failures) {
  const unsigned rank = block.thread_rank();
  const auto warp = cg::tiled_partition<32>(block);
  const auto quad = cg::tiled_partition<4>(block);
  EXPECT(cg::reduce(warp, (int)rank, cg::plus<int>()) == (int)(rank / 32 * 32 * 32 + 496));
  EXPECT(cg::reduce(warp, 0.5, cg::plus<double>()) == 16);
  EXPECT(cg::reduce(quad, (int)rank, cg::greater<int>()) == (int)(rank / 4 * 4 + 3));
  EXPECT(cg::reduce(quad, rank, cg::less<unsigned>()) == rank / 4 * 4);
  EXPECT(cg::reduce(warp, 1u << rank % 32, cg::bit_or<unsigned>()) == ~0u);
  EXPECT(cg::reduce(warp, ~(1u << rank % 32), cg::bit_and<unsigned>()) == 0);
  EXPECT(cg::reduce(warp, rank % 32, cg::bit_xor<unsigned>()) == 0);
  EXPECT(cg::reduce(quad, 2, [](int a, int b) { return a * b; }) == 16);
  EXPECT(cg::inclusive_scan(warp, 1) == (int)(rank % 32 + 1));
  EXPECT(cg::exclusive_scan(quad, 2, cg::plus<int>()) == (int)(rank % 4 * 2));
  EXPECT(cg::inclusive_scan(quad, (int)(rank % 4 == 1), cg::greater<int>()) == (rank % 4 >= 1));
}

__device__ void check_coalesced(cg::thread_block block, int* failures) {
  const unsigned rank = block.thread_rank(), first = rank / 32 * 32;
  if (rank % 3 != 1) return;
  const cg::coalesced_group some = cg::coalesced_threads();
  unsigned count = 0, below = 0;
  for (unsigned i = first; i < first + 32; ++i) count += i % 3 == 1, below += i % 3 == 1 && i < rank;
  EXPECT(some.size() == count && some.thread_rank() == below);
  EXPECT(cg::reduce(some, 2, cg::plus<int>()) == (int)count * 2);
  EXPECT(cg::inclusive_scan(some, 1) == (int)below + 1);
  EXPECT(some.shfl(below, 4) == 4);
  EXPECT(some.shfl_up(below, 1) == (below ? below - 1 : 0));
  EXPECT(some.shfl_down(below, 1) == (below + 1 < count ? below + 1 : below));
  EXPECT(some.ballot(below == 1) == 2);
  const auto parts = cg::tiled_partition(some, 4);
  EXPECT(parts.thread_rank() == below % 4 && parts.meta_group_rank() == below / 4);
  some.sync();
}

__device__ void check_partitions(cg::thread_block block, int* failures) {
  const unsigned rank = block.thread_rank();
  const auto warp = cg::tiled_partition<32>(block);
  const auto halves = cg::binary_partition(warp, rank % 4 == 0);
  EXPECT(halves.size() == (rank % 4 ? 24 : 8) && halves.meta_group_size() == 2);
  EXPECT(halves.meta_group_rank() == (rank % 4 == 0));
  EXPECT(cg::binary_partition(warp, true).size() == 32);
  const auto labels = cg::labeled_partition(warp, rank % 32 % 5);
  EXPECT(labels.meta_group_size() == 5 && labels.meta_group_rank() == rank % 32 % 5);
  EXPECT(labels.thread_rank() == rank % 32 / 5);
  EXPECT(cg::reduce(labels, 1, cg::plus<int>()) == (int)labels.size());
  EXPECT(cg::invoke_one_broadcast(warp, [&] { return rank; }) / 32 == rank / 32);
}

__device__ int sum_of(const cg::thread_group& group, int* room, int value) {
  const int lane = (int)group.thread_rank();
  for (int i = (int)group.size() / 2; i > 0; i /= 2) {
    room[lane] = value;
    group.sync();
    if (lane < i) value += room[lane + i];
    group.sync();
  }
  return value;
}

__global__ void check(int* failures) {
  const cg::thread_block block = cg::this_thread_block();
  const unsigned rank = block.thread_rank();
  EXPECT(block.size() == 128 && rank == threadIdx.x + 16 * threadIdx.y && block.dim_threads().y == 8);
  EXPECT(block.group_index().x == blockIdx.x && block.thread_index().y == threadIdx.y);
  EXPECT(cg::this_grid().size() == 256 && cg::this_grid().thread_rank() == blockIdx.x * 128 + rank);
  EXPECT(!cg::this_grid().is_valid());
  check_tiles(block, failures);
  check_reductions(block, failures);
  check_coalesced(block, failures);
  check_partitions(block, failures);
  __shared__ int room[128];
  int sum = sum_of(block, room, 1);
  if (rank == 0) EXPECT(sum == 128);
  const cg::thread_group eight = cg::tiled_partition(block, 8);
  EXPECT(eight.size() == 8 && eight.thread_rank() == rank % 8);
  cg::sync(block);
  sum = sum_of(eight, room + rank / 8 * 8, 1);
  if (rank % 8 == 0) EXPECT(sum == 8);
  cg::invoke_one(block, [=] { atomicAdd(failures, 0); });
}

int main() {
  int *failures, found = -1;
  cudaMalloc(&failures, sizeof(int));
  cudaMemset(failures, 0, sizeof(int));
  check<<<2, dim3(16, 8)>>>(failures);
  cudaMemcpy(&found, failures, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(failures);
  std::printf("%s\n", found == 0 ? "PASSED" : "FAILED");
  return found == 0 ? 0 : 1;
}
