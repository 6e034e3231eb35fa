// One kernel for each fault that simt must report. nvcc compiles them, too; on a GPU most would go unnoticed.

#include "tests/simt_kernels/planted_races.cuh"
#include "tests/simt_kernels/samples.h"

#undef NDEBUG  // enable assert() in all builds
#include <cassert>

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {

using namespace nvcuda;

__global__ void global_read_past_end(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i + 3];
}

__global__ void global_read_before_start(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i - 2];
}

__global__ void global_write_past_end(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i * 2] = x[i];
}

__global__ void global_write_to_read_only(const float* x, float* y) {
  if (threadIdx.x == 9) const_cast<float*>(x)[4] = 1.0f;
  y[threadIdx.x] = 0.0f;
}

__global__ void global_null(const float* x, float* y) {
  if (threadIdx.x == 3) y = nullptr;
  y[threadIdx.x] = x[threadIdx.x];
}

__global__ void global_uninitialized(float* y) {
  if (threadIdx.x < 8) y[threadIdx.x] = 1.0f;
  __syncthreads();
  y[threadIdx.x + 16] = y[threadIdx.x];
}

__global__ void global_misaligned(const float* x, float* y) {
  const char* bytes = reinterpret_cast<const char*>(x) + 2 * threadIdx.x;
  y[threadIdx.x] = *reinterpret_cast<const float*>(bytes);
}

__constant__ float constant_table[16];

__global__ void constant_write(float* y) {
  float* table = constant_table;
  if (threadIdx.x == 2) table[threadIdx.x] = 1.0f;
  y[threadIdx.x] = table[threadIdx.x % 16];
}

__global__ void static_shared_index(const float* x, float* y) {
  __shared__ float before[4];
  __shared__ float tile[32];
  if (threadIdx.x == 0) before[0] = x[0];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x + 1] + before[0];
}

__global__ void static_shared_inner_index(const float* x, float* y) {
  __shared__ float square[8][8];
  __shared__ float other[8][8];
  const int row = threadIdx.x / 8;
  const int column = threadIdx.x % 8;
  square[row][column] = x[threadIdx.x % 64];
  other[row][column] = 0.0f;
  __syncthreads();
  y[threadIdx.x] = other[row][column] + square[row][column + (row == 2)];
}

__device__ float rotated(float value) {
  __shared__ float ring[32];
  ring[threadIdx.x] = value;
  __syncthreads();
  return ring[threadIdx.x + 1];
}

__global__ void helper_shared_index(const float* x, float* y) { y[threadIdx.x] = rotated(x[threadIdx.x]); }

__global__ void static_shared_pointer(const float* x, float* y, int far) {
  __shared__ float tile[32];
  float* p = tile;
  p[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = p[threadIdx.x == 7 ? far : threadIdx.x];
}

// The compiler sees no array behind a pointer. Beyond the array lies another kernel's, or simt's own memory.
__global__ void shared_overrun_write(const float* x, float* y, int by) {
  __shared__ float line[32];
  float* p = line;
  p[threadIdx.x + by] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = p[threadIdx.x + by];
}

__global__ void shared_overrun_read(const float* x, float* y, int by) {
  __shared__ float strip[32];
  float* p = strip;
  p[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = p[threadIdx.x + by];
}

__global__ void dynamic_shared_past_end(const float* x, float* y) {
  float* tile = dynamic_shared<float>();
  tile[threadIdx.x + (threadIdx.x == 31)] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}

__global__ void local_index(const float* x, float* y, int count) {
  float own[8];
  for (int i = 0; i < 8; ++i) own[i] = x[i];
  for (int i = 0; i < count; ++i) own[(i * 5) % 8] += own[i];
  y[threadIdx.x] = own[3];
}

__global__ void uninitialized_shared(const float* x, float* y) {
  __shared__ float written[33];
  written[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = written[threadIdx.x + 1];
}

__global__ void uninitialized_shared_half(const float* x, float* y) {
  __shared__ __half halves[64];
  halves[2 * threadIdx.x] = __float2half(x[threadIdx.x]);
  __syncthreads();
  y[threadIdx.x] = __half2float(halves[threadIdx.x]);
}

__global__ void never_written_shared(float* y) {
  __shared__ float forgotten[32];
  y[threadIdx.x] = forgotten[threadIdx.x];
}

// The first block writes the array; a later block must not read what it left.
__global__ void stale_shared(const float* x, float* y) {
  __shared__ float kept[32];
  if (blockIdx.x == 0) kept[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = kept[threadIdx.x];
}

__global__ void barrier_after_exit(const float* x, float* y) {
  if (threadIdx.x >= 40) return;
  y[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
}

__global__ void barrier_in_branches(const float* x, float* y) {
  if (threadIdx.x % 2 == 0) {
    y[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
  } else {
    __syncthreads();
    y[threadIdx.x] = 0.0f;
  }
}

__global__ void barrier_missed_by_half(const float* x, float* y) {
  if (threadIdx.x < 32) __syncthreads();
  y[threadIdx.x] = x[threadIdx.x];
}

__global__ void syncwarp_missed(const float* x, float* y) {
  if (threadIdx.x < 16) {
    __syncwarp();
    y[threadIdx.x] = x[threadIdx.x];
  } else {
    __syncthreads();
  }
}

__global__ void shuffle_missed_by_half(const float* x, float* y) {
  float value = x[threadIdx.x];
  if (threadIdx.x < 16) value += __shfl_down_sync(0xffffffffu, value, 8);
  __syncthreads();
  y[threadIdx.x] = value;
}

__global__ void shuffle_reads_exited_lane(const float* x, float* y) {
  if (threadIdx.x >= 20) return;
  y[threadIdx.x] = __shfl_down_sync(0xffffffffu, x[threadIdx.x], 4);
}

__global__ void shuffle_reads_outside_mask(const float* x, float* y) {
  if (threadIdx.x < 16) y[threadIdx.x] = __shfl_down_sync(0x0000ffffu, x[threadIdx.x], 8);
}

__global__ void shuffle_without_own_lane(const float* x, float* y) {
  y[threadIdx.x] = __shfl_xor_sync(0x0000ffffu, x[threadIdx.x], 1);
}

__global__ void warp_and_block_barrier(const float* x, float* y) {
  if (threadIdx.x == 5) {
    y[threadIdx.x] = __ballot_sync(0xffffffffu, x[0] > 0.0f);
  } else {
    y[threadIdx.x] = __any_sync(0xffffffffu, x[0] > 0.0f);
  }
}

__global__ void wmma_in_branch(const float* x, float* y) {
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, x[0]);
  if (threadIdx.x != 4) wmma::store_matrix_sync(y, sum, 16, wmma::mem_row_major);
}

__device__ __attribute__((noinline)) float deep(const float* x, int depth) {
  float own[64];
  for (int i = 0; i < 64; ++i) own[i] = x[i] + depth;
  if (depth > 100000) return own[depth % 64];
  return deep(x, depth + 1) + own[(depth * 7) % 64];
}

__global__ void stack_overflow(const float* x, float* y) { y[threadIdx.x] = deep(x, threadIdx.x == 1 ? 0 : 100000); }

__global__ void trap(const float* x, float* y) {
  if (threadIdx.x == 6 && x != nullptr) __trap();
  y[threadIdx.x] = x[threadIdx.x];
}

__constant__ int constant_counts[64];

__global__ void divides_by_zero(float* y) {
  const int part = static_cast<int>(threadIdx.x) / (constant_counts[threadIdx.x] - 9);
  y[threadIdx.x] = static_cast<float>(part);
}

__global__ void calls_nothing(float* y, void (*nothing)()) {
  if (threadIdx.x == 7) nothing();
  y[threadIdx.x] = 0.0f;
}

#ifndef __CUDACC__
__global__ void throws(float* y) {
  if (threadIdx.x == 4) throw 42;
  y[threadIdx.x] = 0.0f;
}
#endif

// A loop without loads or stores.
__global__ void endless_loop(float* y, unsigned step) {
  unsigned sum = threadIdx.x + 1;
  while (sum != 0) sum = sum * 3 + step;  // always odd
  y[threadIdx.x] = static_cast<float>(sum);
}

__global__ void endless_loop_with_barriers(float* y) {
  __shared__ int go_on;
  if (threadIdx.x == 0) go_on = 1;
  __syncthreads();
  while (go_on != 0) __syncthreads();
  y[threadIdx.x] = 0.0f;
}

// A block may wait only for earlier blocks.
__global__ void waits_for_another_block(volatile float* y) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    while (y[63] == 1.0f) {
    }
  }
  __syncthreads();
  y[blockIdx.x * 32 + threadIdx.x] = 2.0f;
}

__global__ void waits_by_atomics(int* flag) {
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) != 7) {
    }
  }
}

// Single members may be loaded at these addresses, but not the vector.
__global__ void misaligned_vector(const float* x, float* y) {
  const float4 four = *reinterpret_cast<const float4*>(x + 4 * (threadIdx.x % 8) + (threadIdx.x == 5));
  y[threadIdx.x] = four.x + four.y + four.z + four.w;
}

__global__ void misaligned_vector_store(float* y) {
  *reinterpret_cast<int2*>(y + 2 * threadIdx.x - (threadIdx.x == 3)) = make_int2(1, 2);
}

__global__ void misaligned_shared_vector(const float* x, float* y) {
  __shared__ float line[68];
  for (int i = threadIdx.x; i < 68; i += 32) line[i] = x[i % 64];
  __syncthreads();
  const float2 two = reinterpret_cast<const float2*>(line + 1)[threadIdx.x];
  y[threadIdx.x] = two.x - two.y;
}

__global__ void assertion_fails(const float* x, float* y) {
  assert(x[threadIdx.x] + threadIdx.x != 8.0f);
  y[threadIdx.x] = x[threadIdx.x];
}

__global__ void waits_for_a_plain_shared_flag(const float* x, float* y) {
  __shared__ int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (ready == 0) {
    }
  }
  if (threadIdx.x == 32) ready = 1;
  y[threadIdx.x] = x[threadIdx.x];
}

__global__ void waits_for_a_plain_flag(int* flag) {
  if (threadIdx.x == 0) {
    while (flag[3] == 0) {
    }
  }
  if (threadIdx.x == 32) flag[3] = 1;
}

}  // namespace

void plant(Planted fault, const float* x, float* y, cudaStream_t stream) {
  const LaunchShape two_blocks{.grid = 2, .block = 32};
  const LaunchShape one_warp{.grid = 1, .block = 32};
  const LaunchShape two_warps{.grid = 1, .block = 64};
  switch (fault) {
    case Planted::global_read_past_end:
      return launch(global_read_past_end, two_blocks, stream, x, y);
    case Planted::global_read_before_start:
      return launch(global_read_before_start, two_blocks, stream, x, y);
    case Planted::global_write_past_end:
      return launch(global_write_past_end, two_blocks, stream, x, y);
    case Planted::global_write_to_read_only:
      return launch(global_write_to_read_only, one_warp, stream, x, y);
    case Planted::global_null:
      return launch(global_null, one_warp, stream, x, y);
    case Planted::global_uninitialized:
      return launch(global_uninitialized, one_warp, stream, y);
    case Planted::global_misaligned:
      return launch(global_misaligned, one_warp, stream, x, y);
    case Planted::constant_write:
      copy_to_constant(constant_table, x, sizeof(constant_table), stream);
      return launch(constant_write, one_warp, stream, y);
    case Planted::static_shared_index:
      return launch(static_shared_index, one_warp, stream, x, y);
    case Planted::static_shared_inner_index:
      return launch(static_shared_inner_index, two_warps, stream, x, y);
    case Planted::helper_shared_index:
      return launch(helper_shared_index, one_warp, stream, x, y);
    case Planted::static_shared_pointer:
      return launch(static_shared_pointer, one_warp, stream, x, y, 1 << 20);  // past all shared memory
    case Planted::shared_overrun_write:
      return launch(shared_overrun_write, one_warp, stream, x, y, 64);
    case Planted::shared_overrun_read:
      return launch(shared_overrun_read, one_warp, stream, x, y, 32);
    case Planted::dynamic_shared_past_end:
      return launch(dynamic_shared_past_end, {.block = 32, .shared_bytes = 32 * sizeof(float)}, stream, x, y);
    case Planted::local_index:
      return launch(local_index, one_warp, stream, x, y, 9);
    case Planted::uninitialized_shared:
      return launch(uninitialized_shared, one_warp, stream, x, y);
    case Planted::uninitialized_shared_half:
      return launch(uninitialized_shared_half, one_warp, stream, x, y);
    case Planted::never_written_shared:
      return launch(never_written_shared, one_warp, stream, y);
    case Planted::stale_shared:
      return launch(stale_shared, two_blocks, stream, x, y);
    case Planted::race_write_write:
      return launch(race_write_write, one_warp, stream, x, y);
    case Planted::race_read_write:
      return launch(race_read_write, one_warp, stream, x, y);
    case Planted::race_write_read:
      return launch(race_write_read, one_warp, stream, x, y);
    case Planted::race_plain_and_atomic:
      return launch(race_plain_and_atomic, one_warp, stream, x, y);
    case Planted::race_between_warps:
      return launch(race_between_warps, two_warps, stream, x, y);
    case Planted::race_in_warp_without_syncwarp:
      return launch(race_in_warp_without_syncwarp, one_warp, stream, x, y);
    case Planted::race_after_shuffle:
      return launch(race_after_shuffle, one_warp, stream, x, y);
    case Planted::race_neighboring_halves:
      return launch(race_neighboring_halves, one_warp, stream, x, y);
    case Planted::race_wmma_store:
      return launch(race_wmma_store, one_warp, stream, x, y);
    case Planted::copy_not_awaited:
      return launch(copy_not_awaited, one_warp, stream, x, y);
    case Planted::copy_awaited_after_barrier:
      return launch(copy_awaited_after_barrier, one_warp, stream, x, y);
    case Planted::copy_of_last_group_not_awaited:
      return launch(copy_of_last_group_not_awaited, one_warp, stream, x, y);
    case Planted::copy_into_what_others_read:
      return launch(copy_into_what_others_read, one_warp, stream, x, y);
    case Planted::copy_misaligned:
      return launch(copy_misaligned, one_warp, stream, x, y);
    case Planted::barrier_after_exit:
      return launch(barrier_after_exit, two_warps, stream, x, y);
    case Planted::barrier_in_branches:
      return launch(barrier_in_branches, two_warps, stream, x, y);
    case Planted::barrier_missed_by_half:
      return launch(barrier_missed_by_half, two_warps, stream, x, y);
    case Planted::syncwarp_missed:
      return launch(syncwarp_missed, one_warp, stream, x, y);
    case Planted::shuffle_missed_by_half:
      return launch(shuffle_missed_by_half, one_warp, stream, x, y);
    case Planted::shuffle_reads_exited_lane:
      return launch(shuffle_reads_exited_lane, one_warp, stream, x, y);
    case Planted::shuffle_reads_outside_mask:
      return launch(shuffle_reads_outside_mask, one_warp, stream, x, y);
    case Planted::shuffle_without_own_lane:
      return launch(shuffle_without_own_lane, one_warp, stream, x, y);
    case Planted::warp_and_block_barrier:
      return launch(warp_and_block_barrier, one_warp, stream, x, y);
    case Planted::wmma_in_branch:
      return launch(wmma_in_branch, one_warp, stream, x, y);
    case Planted::stack_overflow:
      return launch(stack_overflow, one_warp, stream, x, y);
    case Planted::trap:
      return launch(trap, one_warp, stream, x, y);
    case Planted::divides_by_zero: {
      int counts[64];
      for (int i = 0; i < 64; ++i) counts[i] = i;
      copy_to_constant(constant_counts, counts, sizeof(counts), stream);
      return launch(divides_by_zero, one_warp, stream, y);
    }
    case Planted::calls_nothing:
      return launch(calls_nothing, one_warp, stream, y, nullptr);
    case Planted::throws:
#ifndef __CUDACC__
      launch(throws, one_warp, stream, y);
#endif
      return;
    case Planted::endless_loop:
      return launch(endless_loop, one_warp, stream, y, 2u);
    case Planted::endless_loop_with_barriers:
      return launch(endless_loop_with_barriers, one_warp, stream, y);
    case Planted::waits_for_another_block:
      copy_bytes(y, x, 64 * sizeof(float), stream);
      return launch(waits_for_another_block, two_blocks, stream, y);
    case Planted::waits_by_atomics:
      fill_bytes(y, 0, 64 * sizeof(float), stream);
      return launch(waits_by_atomics, two_blocks, stream, reinterpret_cast<int*>(y));
    case Planted::forgotten_atomic:
      fill_bytes(y, 0, 64 * sizeof(float), stream);
      return launch(forgotten_atomic, two_blocks, stream, x, y);
    case Planted::blocks_overlap:
      return launch(blocks_overlap, two_blocks, stream, x, y);
    case Planted::reads_its_neighbor:
      fill_bytes(y, 0, 64 * sizeof(float), stream);
      return launch(reads_its_neighbor, two_blocks, stream, y);
    case Planted::plain_beside_atomic:
      fill_bytes(y, 0, 64 * sizeof(float), stream);
      return launch(plain_beside_atomic, two_blocks, stream, y);
    case Planted::reads_sum_too_early:
      fill_bytes(y, 0, 64 * sizeof(float), stream);
      return launch(reads_sum_too_early, two_blocks, stream, x, y);
    case Planted::flag_without_fence:
      fill_bytes(y, 0, 64 * sizeof(float), stream);
      return launch(flag_without_fence, two_blocks, stream, y, reinterpret_cast<unsigned*>(y + 60));
    case Planted::misaligned_vector:
      return launch(misaligned_vector, one_warp, stream, x, y);
    case Planted::misaligned_vector_store:
      return launch(misaligned_vector_store, one_warp, stream, y);
    case Planted::misaligned_shared_vector:
      return launch(misaligned_shared_vector, one_warp, stream, x, y);
    case Planted::assertion_fails:
      return launch(assertion_fails, one_warp, stream, x, y);
    case Planted::waits_for_a_plain_shared_flag:
      return launch(waits_for_a_plain_shared_flag, two_warps, stream, x, y);
    case Planted::waits_for_a_plain_flag:
      fill_bytes(y, 0, 64 * sizeof(float), stream);
      return launch(waits_for_a_plain_flag, two_warps, stream, reinterpret_cast<int*>(y));
    case Planted::blocks_share_a_byte:
      return launch(blocks_share_a_byte, two_blocks, stream, reinterpret_cast<unsigned char*>(y));
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
