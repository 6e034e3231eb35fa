// Race pairs: blocks race on arrays and on __device__ variables, and threads of a block on the latter.

#include "tests/simt_kernels/race_pairs.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {

template <bool kRight>
__global__ void sum_of_blocks(RaceData d) {
  const int sum = __reduce_add_sync(0xffffffffu, d.x[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x != 0) return;
  if (kRight) {
    atomicAdd(d.y, sum);
  } else {
    d.y[0] += sum;
  }
}

template <bool kRight>
__global__ void last_block_adds_up(RaceData d) {
  if (threadIdx.x != 0) return;
  int* left = d.w + 1;
  left[blockIdx.x] = d.x[blockIdx.x];
  if (kRight) __threadfence();
  if (atomicAdd(d.w, 1) != gridDim.x - 1) return;
  for (int block = 0; block < gridDim.x; ++block) d.y[0] += left[block];
}

template <bool kRight>
__global__ void flags_from_block_to_block(RaceData d) {
  if (threadIdx.x != 0) return;
  volatile int* flags = d.w;
  int before = 0;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {
    }
    __threadfence();
    before = d.y[blockIdx.x - 1];
  }
  d.y[blockIdx.x] = before + d.x[blockIdx.x];
  if (kRight) __threadfence();
  flags[blockIdx.x] = 1;
}

template <bool kRight>
__global__ void pieces_that_overlap(RaceData d) {
  const int i = blockIdx.x * (kRight ? 32 : 31) + threadIdx.x;
  d.y[i] = d.x[i];
}

template <bool kRight>
__global__ void neighbor_in_another_block(RaceData d) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int* from = kRight ? d.x : d.y;
  if (threadIdx.x == 31) d.w[i] = from[(i + 1) % 128];
  d.y[i] = d.x[i];
}

template <bool kRight>
__global__ void strides_of_a_grid(RaceData d) {
  const int first = kRight ? blockIdx.x * blockDim.x + threadIdx.x : threadIdx.x;
  for (int i = first; i < 256; i += blockDim.x * gridDim.x) d.y[i] = d.x[i];
}

template <bool kRight>
__global__ void plain_beside_an_atomic(RaceData d) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0 && !kRight) {
    d.y[0] = 1;
  } else {
    atomicAdd(d.y, 1);
  }
}

template <bool kRight>
__global__ void counter_of_blocks_reset(RaceData d) {
  if (threadIdx.x != 0) return;
  if (!kRight && blockIdx.x == 0) d.w[0] = 0;
  const int ticket = atomicAdd(d.w, 1);
  if (kRight && ticket == gridDim.x - 1) d.w[0] = 0;
}

template <bool kRight>
__global__ void barrier_for_another_block(RaceData d) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  d.w[i] = d.x[i];
  __syncthreads();
  d.y[i] = d.w[kRight ? blockIdx.x * blockDim.x + 31 - threadIdx.x : 127 - i];
}

template <bool kRight>
__global__ void push_from_all_blocks(RaceData d) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  for (int edge = d.row[node]; edge < d.row[node + 1]; ++edge) {
    if (kRight) {
      atomicMax(&d.y[d.col[edge]], d.x[node]);
    } else {
      d.y[d.col[edge]] = max(d.y[d.col[edge]], d.x[node]);
    }
  }
}

template <bool kRight>
__global__ void lock_of_blocks(RaceData d) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(d.w, 0, 1) != 0) {
  }
  if (kRight) __threadfence();
  d.y[0] += d.x[blockIdx.x];
  if (kRight) __threadfence();
  atomicExch(d.w, 0);
}

__device__ int found_count;

template <bool kRight>
__global__ void counter_of_the_device(RaceData d) {
  if (threadIdx.x != 0) return;
  if (kRight) {
    atomicAdd(&found_count, d.x[blockIdx.x]);
  } else {
    found_count += d.x[blockIdx.x];
  }
}

template <bool kRight>
__global__ void counter_of_the_device_in_a_block(RaceData d) {
  if (kRight) {
    atomicAdd(&found_count, d.x[threadIdx.x]);
  } else {
    found_count += d.x[threadIdx.x];
  }
}

__device__ int distances[128];

template <bool kRight>
__global__ void array_of_the_device(RaceData d) {
  distances[kRight ? blockIdx.x * blockDim.x + threadIdx.x : threadIdx.x] = d.x[threadIdx.x];
}

template <bool kRight>
__global__ void array_of_the_device_in_a_block(RaceData d) {
  distances[threadIdx.x] = d.x[threadIdx.x];
  if (kRight) __syncthreads();
  d.y[threadIdx.x] = distances[63 - threadIdx.x];
}

__device__ bool has_begun, has_changed;
__device__ unsigned has_changed_word;

template <bool kRight>
__global__ void flag_of_the_device(RaceData d) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) has_begun = true;
  if (d.x[0] < 0) d.y[0] = has_begun + has_changed;  // otherwise the compiler would remove the unread variables
  if (kRight) {
    atomicOr(&has_changed_word, 1u);
  } else {
    has_changed = true;
  }
}

__device__ unsigned tickets;
__device__ volatile int left_by_blocks[4];

template <bool kRight>
__global__ void last_block_by_device_variables(RaceData d) {
  if (threadIdx.x != 0) return;
  int* left = const_cast<int*>(left_by_blocks);
  left[blockIdx.x] = d.x[blockIdx.x];
  if (kRight) __threadfence();
  if (atomicInc(&tickets, gridDim.x - 1) != gridDim.x - 1) return;
  for (int block = 0; block < gridDim.x; ++block) d.y[0] += left[block];
}

constexpr RacePair kPairs[] = {
    RACE_PAIR(sum_of_blocks, 4, 32),
    RACE_PAIR(last_block_adds_up, 4, 32),
    RACE_PAIR(flags_from_block_to_block, 4, 32),
    RACE_PAIR(pieces_that_overlap, 4, 32),
    RACE_PAIR(neighbor_in_another_block, 4, 32),
    RACE_PAIR(strides_of_a_grid, 4, 32),
    RACE_PAIR(plain_beside_an_atomic, 4, 32),
    RACE_PAIR(counter_of_blocks_reset, 4, 32),
    RACE_PAIR(barrier_for_another_block, 4, 32),
    RACE_PAIR(push_from_all_blocks, 2, 32),
    RACE_PAIR(lock_of_blocks, 4, 32),
    RACE_PAIR(counter_of_the_device, 4, 32),
    RACE_PAIR(counter_of_the_device_in_a_block, 1, 64),
    RACE_PAIR(array_of_the_device, 4, 32),
    RACE_PAIR(array_of_the_device_in_a_block, 1, 64),
    RACE_PAIR(flag_of_the_device, 4, 32),
    RACE_PAIR(last_block_by_device_variables, 4, 32),
};

}  // namespace

std::span<const RacePair> race_pairs_of_blocks() { return kPairs; }

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
