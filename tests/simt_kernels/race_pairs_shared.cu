// Race pairs: threads of a block race on shared memory.

#include "tests/simt_kernels/race_pairs.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {

constexpr unsigned kAll = 0xffffffffu;

template <bool kRight>
__global__ void reversed_tile(RaceData d) {
  __shared__ int tile[64];
  tile[threadIdx.x] = d.x[threadIdx.x];
  if (kRight) __syncthreads();
  d.y[threadIdx.x] = tile[63 - threadIdx.x];
}

template <bool kRight>
__global__ void barrier_in_the_wrong_place(RaceData d) {
  __shared__ int tile[64];
  if (!kRight) __syncthreads();
  tile[threadIdx.x] = d.x[threadIdx.x];
  if (kRight) __syncthreads();
  d.y[threadIdx.x] = tile[(threadIdx.x + 1) % 64];
}

template <bool kRight>
__global__ void tile_used_again(RaceData d) {
  __shared__ int tile[64];
  int sum = 0;
  for (int step = 0; step < 4; ++step) {
    tile[threadIdx.x] = d.x[64 * step + threadIdx.x];
    __syncthreads();
    sum += tile[63 - threadIdx.x];
    if (kRight) __syncthreads();
  }
  d.y[threadIdx.x] = sum;
}

template <bool kRight>
__global__ void two_buffers(RaceData d) {
  __shared__ int buffer[2][64];
  int sum = 0;
  for (int step = 0; step < 4; ++step) {
    int* tile = buffer[kRight ? step % 2 : 0];
    tile[threadIdx.x] = d.x[64 * step + threadIdx.x];
    __syncthreads();
    sum += tile[63 - threadIdx.x];
  }
  d.y[threadIdx.x] = sum;
}

template <bool kRight>
__global__ void tree_of_a_block(RaceData d) {
  __shared__ int sums[64];
  sums[threadIdx.x] = d.x[threadIdx.x];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    if (kRight) __syncthreads();
  }
  if (threadIdx.x == 0) d.y[0] = sums[0];
}

template <bool kRight>
__global__ void tree_of_a_warp(RaceData d) {
  __shared__ int sums[32];
  sums[threadIdx.x] = d.x[threadIdx.x];
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    if (kRight) __syncwarp();
  }
  if (threadIdx.x == 0) d.y[0] = sums[0];
}

// Code from before Volta, when the lanes of a warp ran in lockstep and `volatile` was enough.
template <bool kRight>
__global__ void volatile_tree(RaceData d) {
  __shared__ int sums[64];
  volatile int* own = sums + threadIdx.x;
  own[0] = d.x[threadIdx.x];
  own[32] = 0;
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    const int other = own[half];
    if (kRight) __syncwarp();
    own[0] = own[0] + other;
    if (kRight) __syncwarp();
  }
  if (threadIdx.x == 0) d.y[0] = sums[0];
}

template <bool kRight>
__global__ void prefix_sums(RaceData d) {
  __shared__ int sums[64];
  sums[threadIdx.x] = d.x[threadIdx.x];
  __syncthreads();
  for (int reach = 1; reach < 64; reach *= 2) {
    const int before = threadIdx.x >= reach ? sums[threadIdx.x - reach] : 0;
    if (kRight) __syncthreads();
    sums[threadIdx.x] += before;
    __syncthreads();
  }
  d.y[threadIdx.x] = sums[threadIdx.x];
}

template <bool kRight>
__global__ void prefix_sums_in_two_buffers(RaceData d) {
  __shared__ int sums[2][64];
  int from = 0;
  sums[0][threadIdx.x] = d.x[threadIdx.x];
  __syncthreads();
  for (int reach = 1; reach < 64; reach *= 2) {
    const int to = kRight ? 1 - from : from;
    sums[to][threadIdx.x] = sums[from][threadIdx.x] + (threadIdx.x >= reach ? sums[from][threadIdx.x - reach] : 0);
    from = to;
    __syncthreads();
  }
  d.y[threadIdx.x] = sums[from][threadIdx.x];
}

template <bool kRight>
__global__ void block_histogram(RaceData d) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  int* bin = &bins[d.x[threadIdx.x] % 8];
  if (kRight) {
    atomicAdd(bin, 1);
  } else {
    ++*bin;
  }
  __syncthreads();
  if (threadIdx.x < 8) d.y[threadIdx.x] = bins[threadIdx.x];
}

template <bool kRight>
__global__ void counter_set_to_zero(RaceData d) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  if (kRight) __syncthreads();
  if (d.x[threadIdx.x] > 7) atomicAdd(&count, 1);
  __syncthreads();
  d.y[threadIdx.x] = count;
}

template <bool kRight>
__global__ void counter_read_too_early(RaceData d) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, d.x[threadIdx.x]);
  if (kRight) __syncthreads();
  if (threadIdx.x == 63) d.y[0] = count;
}

template <bool kRight>
__global__ void stencil_with_halo(RaceData d) {
  __shared__ int line[66];
  line[threadIdx.x + 1] = d.x[threadIdx.x + 1];
  if (threadIdx.x < 2) line[65 * threadIdx.x] = d.x[65 * threadIdx.x];
  if (kRight) __syncthreads();
  d.y[threadIdx.x] = line[threadIdx.x] + line[threadIdx.x + 1] + line[threadIdx.x + 2];
}

template <bool kRight>
__global__ void stencil_in_place(RaceData d) {
  __shared__ int line[64];
  line[threadIdx.x] = d.x[threadIdx.x];
  __syncthreads();
  const int sum = line[threadIdx.x] + line[(threadIdx.x + 1) % 64];
  if (kRight) __syncthreads();
  line[threadIdx.x] = sum;
  __syncthreads();
  d.y[threadIdx.x] = line[63 - threadIdx.x];
}

template <bool kRight>
__global__ void transposed_tile(RaceData d) {
  __shared__ int tile[8][9];
  const int row = threadIdx.x / 8, column = threadIdx.x % 8;
  tile[row][column] = d.x[threadIdx.x];
  if (kRight) {
    __syncthreads();
  } else {
    __syncwarp();
  }
  d.y[threadIdx.x] = tile[column][row];
}

template <bool kRight>
__global__ void product_of_tiles(RaceData d) {
  __shared__ int a[8][8], b[8][8];
  const int row = threadIdx.x / 8, column = threadIdx.x % 8;
  int sum = 0;
  for (int step = 0; step < 2; ++step) {
    a[row][column] = d.x[64 * step + threadIdx.x];
    b[row][column] = d.x[64 * step + 128 + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 8; ++i) sum += a[row][i] * b[i][column];
    if (kRight) __syncthreads();
  }
  d.y[threadIdx.x] = sum;
}

template <bool kRight>
__global__ void one_lane_tells_its_warp(RaceData d) {
  __shared__ int told;
  if (threadIdx.x == 0) told = d.x[0];
  if (kRight) __syncwarp();
  d.y[threadIdx.x] = told;
}

template <bool kRight>
__global__ void one_warp_tells_the_others(RaceData d) {
  __shared__ int told;
  if (threadIdx.x == 0) told = d.x[0];
  if (kRight) {
    __syncthreads();
  } else {
    __syncwarp();
  }
  d.y[threadIdx.x] = told;
}

// A shuffle synchronizes lanes but orders no memory.
template <bool kRight>
__global__ void shuffle_for_a_barrier(RaceData d) {
  __shared__ int tile[32];
  tile[threadIdx.x] = d.x[threadIdx.x];
  const int other = __shfl_down_sync(kAll, d.x[threadIdx.x], 1);
  if (kRight) __syncwarp();
  d.y[threadIdx.x] = other + tile[31 - threadIdx.x];
}

// A vote synchronizes lanes but orders no memory.
template <bool kRight>
__global__ void vote_for_a_barrier(RaceData d) {
  __shared__ int found;
  if (threadIdx.x == 5) found = d.x[5];
  const unsigned voters = __ballot_sync(kAll, d.x[threadIdx.x] > 7);
  if (kRight) __syncwarp();
  d.y[threadIdx.x] = static_cast<int>(voters) + found;
}

template <bool kRight>
__global__ void half_a_warp_waits(RaceData d) {
  __shared__ int tile[32];
  tile[threadIdx.x] = d.x[threadIdx.x];
  __syncwarp(threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u);
  d.y[threadIdx.x] = tile[threadIdx.x ^ (kRight ? 15 : 31)];
}

template <bool kRight>
__global__ void places_in_a_queue(RaceData d) {
  __shared__ int tail;
  if (threadIdx.x == 0) tail = 0;
  __syncthreads();
  int place = 0;
  if (kRight) {
    place = atomicAdd(&tail, 1);
  } else {
    place = tail++;
  }
  d.y[place] = d.x[threadIdx.x];
}

template <bool kRight>
__global__ void queue_read_while_filled(RaceData d) {
  __shared__ int queue[64], tail;
  if (threadIdx.x == 0) tail = 0;
  __syncthreads();
  queue[atomicAdd(&tail, 1)] = d.x[threadIdx.x];
  if (kRight) __syncthreads();
  d.y[threadIdx.x] = queue[63 - threadIdx.x];
}

template <bool kRight>
__global__ void largest_of_a_block(RaceData d) {
  __shared__ int most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  if (kRight) {
    atomicMax(&most, d.x[threadIdx.x]);
  } else if (d.x[threadIdx.x] > most) {
    most = d.x[threadIdx.x];
  }
  __syncthreads();
  d.y[threadIdx.x] = most;
}

// An atomicCAS loop, which begins with a plain read.
template <bool kRight>
__global__ void largest_by_compare_and_swap(RaceData d) {
  __shared__ int most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  int seen = most, before = 0;
  do {
    before = seen;
    seen = atomicCAS(&most, before, max(before, d.x[threadIdx.x]));
  } while (seen != before);
  if (kRight) __syncthreads();
  d.y[threadIdx.x] = most;
}

template <bool kRight>
__global__ void flag_set_by_many(RaceData d) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (d.x[threadIdx.x] > 7) {
    if (kRight) {
      atomicOr(&found, 1);
    } else {
      found = 1;
    }
  }
  __syncthreads();
  d.y[threadIdx.x] = found;
}

template <bool kRight>
__global__ void bytes_of_a_word(RaceData d) {
  __shared__ unsigned char bytes[64];
  bytes[kRight ? threadIdx.x : threadIdx.x / 2] = static_cast<unsigned char>(d.x[threadIdx.x]);
  __syncthreads();
  d.y[threadIdx.x] = bytes[threadIdx.x / 2];
}

template <bool kRight>
__global__ void halves_of_a_word(RaceData d) {
  __shared__ short halves[65];
  halves[threadIdx.x] = static_cast<short>(d.x[threadIdx.x]);
  if (!kRight) halves[threadIdx.x + 1] = 0;
  __syncthreads();
  d.y[threadIdx.x] = halves[threadIdx.x];
}

template <bool kRight>
__global__ void two_arrays_in_one(RaceData d) {
  int* first = dynamic_shared<int>();
  int* second = first + (kRight ? 64 : 63);
  first[threadIdx.x] = d.x[threadIdx.x];
  second[threadIdx.x] = d.x[threadIdx.x + 64];
  __syncthreads();
  d.y[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];
}

template <bool kRight>
__global__ void locked_sum(RaceData d) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  if (kRight) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
  }
  sum += d.x[threadIdx.x];
  __threadfence_block();
  atomicExch(&lock, 0);
  __syncthreads();
  d.y[threadIdx.x] = sum;
}

template <bool kRight>
__global__ void last_warp_adds_up(RaceData d) {
  __shared__ int parts[4], done;
  if (threadIdx.x == 0) done = 0;
  __syncthreads();
  const int part = __reduce_add_sync(kAll, d.x[threadIdx.x]);
  if (threadIdx.x % 32 != 0) return;
  parts[threadIdx.x / 32] = part;
  if (kRight) __threadfence_block();
  if (atomicAdd(&done, 1) == 3) d.y[0] = parts[0] + parts[1] + parts[2] + parts[3];
}

template <bool kRight>
__global__ void flag_with_a_fence(RaceData d) {
  __shared__ int value;
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = d.x[0];
    if (kRight) __threadfence_block();
    ready = 1;
  }
  if (threadIdx.x == 32) {
    while (ready == 0) {
    }
    __threadfence_block();
    d.y[0] = value;
  }
}

constexpr RacePair kPairs[] = {
    RACE_PAIR(reversed_tile, 1, 64),
    RACE_PAIR(barrier_in_the_wrong_place, 1, 64),
    RACE_PAIR(tile_used_again, 1, 64),
    RACE_PAIR(two_buffers, 1, 64),
    RACE_PAIR(tree_of_a_block, 1, 64),
    RACE_PAIR(tree_of_a_warp, 1, 32),
    RACE_PAIR(volatile_tree, 1, 32),
    RACE_PAIR(prefix_sums, 1, 64),
    RACE_PAIR(prefix_sums_in_two_buffers, 1, 64),
    RACE_PAIR(block_histogram, 1, 64),
    RACE_PAIR(counter_set_to_zero, 1, 64),
    RACE_PAIR(counter_read_too_early, 1, 64),
    RACE_PAIR(stencil_with_halo, 1, 64),
    RACE_PAIR(stencil_in_place, 1, 64),
    RACE_PAIR(transposed_tile, 1, 64),
    RACE_PAIR(product_of_tiles, 1, 64),
    RACE_PAIR(one_lane_tells_its_warp, 1, 32),
    RACE_PAIR(one_warp_tells_the_others, 1, 64),
    RACE_PAIR(shuffle_for_a_barrier, 1, 32),
    RACE_PAIR(vote_for_a_barrier, 1, 32),
    RACE_PAIR(half_a_warp_waits, 1, 32),
    RACE_PAIR(places_in_a_queue, 1, 64),
    RACE_PAIR(queue_read_while_filled, 1, 64),
    RACE_PAIR(largest_of_a_block, 1, 64),
    RACE_PAIR(largest_by_compare_and_swap, 1, 64),
    RACE_PAIR(flag_set_by_many, 1, 64),
    RACE_PAIR(bytes_of_a_word, 1, 64),
    RACE_PAIR(halves_of_a_word, 1, 64),
    RACE_PAIR(two_arrays_in_one, 1, 64),
    RACE_PAIR(locked_sum, 1, 64),
    RACE_PAIR(last_warp_adds_up, 1, 128),
    RACE_PAIR(flag_with_a_fence, 1, 64),
};

}  // namespace

std::span<const RacePair> race_pairs_in_shared_memory() { return kPairs; }

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
