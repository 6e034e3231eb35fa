// Stores of one value by several threads or blocks, and races that only look like redundant writes.

#include "tests/simt_kernels/race_pairs.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {

using namespace nvcuda;

using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

__global__ void every_block_fills(RaceData d) {
  for (int i = threadIdx.x; i < 64; i += blockDim.x) d.y[i] = i;
}

__global__ void several_threads_fill_a_tile(RaceData d) {
  __shared__ int tile[16];
  tile[threadIdx.x % 16] = d.x[threadIdx.x % 16];
  __syncthreads();
  d.y[threadIdx.x] = tile[threadIdx.x % 16];
}

__global__ void warps_store_one_tile(RaceData d) {
  __shared__ __align__(32) float tile[256];
  Sum sum;
  wmma::fill_fragment(sum, 2.0f);
  wmma::store_matrix_sync(tile, sum, 16, wmma::mem_row_major);
  d.y[threadIdx.x] = static_cast<int>(tile[threadIdx.x]);
}

__global__ void lanes_read_after_wmma(RaceData d) {
  __shared__ __align__(32) float tile[256];
  Sum sum;
  wmma::fill_fragment(sum, 2.0f);
  wmma::store_matrix_sync(tile, sum, 16, wmma::mem_row_major);
  d.y[threadIdx.x] = static_cast<int>(tile[threadIdx.x]);
}

__global__ void only_wmma_between_two_tiles(RaceData d) {
  __shared__ __align__(32) half tile[256];
  Sum sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int step = 0; step < 2; ++step) {
    for (int i = threadIdx.x; i < 256; i += 32) tile[i] = __float2half(static_cast<float>(d.x[i] + step));
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::load_matrix_sync(left, tile, 16);
    wmma::load_matrix_sync(right, tile, 16);
    wmma::mma_sync(sum, left, right, sum);
  }
  d.y[threadIdx.x] = static_cast<int>(sum.x[0]);
}

// Fences keep the compiler from removing a store or a load; they order nothing here.
__global__ void stores_another_value_before(RaceData d) {
  __shared__ int value;
  if (threadIdx.x == 0) {
    value = 1;
    __threadfence_block();
    value = 2;
  } else {
    value = 2;
    __threadfence_block();
    d.y[threadIdx.x] = value;
  }
}

__global__ void stores_another_value_after(RaceData d) {
  __shared__ int value;
  value = 2;
  __threadfence_block();
  value = threadIdx.x;
  __syncthreads();
  d.y[threadIdx.x] = value;
}

__global__ void reads_what_others_store(RaceData d) {
  __shared__ int value;
  if (threadIdx.x < 2) {
    value = 2;
  } else {
    d.y[threadIdx.x] = value;
  }
}

__global__ void blocks_read_what_they_store(RaceData d) {
  if (threadIdx.x != 0) return;
  d.y[0] = 7;
  __threadfence_block();
  d.w[blockIdx.x] = d.y[0];
}

__global__ void blocks_store_another_value_after(RaceData d) {
  if (threadIdx.x != 0) return;
  d.y[0] = 7;
  __threadfence_block();
  d.y[0] = blockIdx.x;
}

}  // namespace

std::span<const SameValue> same_values() {
  static const SameValue kernels[] = {
      {"every_block_fills", every_block_fills, 4, 64, SameValue::redundant},
      {"several_threads_fill_a_tile", several_threads_fill_a_tile, 1, 64, SameValue::redundant},
      {"warps_store_one_tile", warps_store_one_tile, 1, 64, SameValue::redundant},
      {"lanes_read_after_wmma", lanes_read_after_wmma, 1, 32, SameValue::right},
      {"only_wmma_between_two_tiles", only_wmma_between_two_tiles, 1, 32, SameValue::right},
      {"stores_another_value_before", stores_another_value_before, 1, 2, SameValue::race},
      {"stores_another_value_after", stores_another_value_after, 1, 2, SameValue::race},
      {"reads_what_others_store", reads_what_others_store, 1, 3, SameValue::race},
      {"blocks_read_what_they_store", blocks_read_what_they_store, 2, 1, SameValue::race},
      {"blocks_store_another_value_after", blocks_store_another_value_after, 2, 1, SameValue::race},
  };
  return kernels;
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
