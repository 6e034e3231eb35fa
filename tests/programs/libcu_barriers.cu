// libcu++: cuda::barrier in shared memory: arrive and wait, drop, parity, completion functions, elected arrivals,
// producers and consumers, copies that a phase awaits.
#include <cooperative_groups.h>
#include <cuda/barrier>

#include <cstdio>
#include <utility>

namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int kThreads = 128, kRounds = 5;

// Threads exchange values without __syncthreads(): the barrier orders them.
__global__ void rotate(const int* in, int* out) {
  __shared__ block_barrier barrier;
  __shared__ int values[kThreads];
  const int thread = threadIdx.x;
  if (thread == 0) init(&barrier, kThreads);
  __syncthreads();
  int value = in[thread];
  for (int round = 0; round < kRounds; ++round) {
    values[thread] = value;
    block_barrier::arrival_token token = barrier.arrive();
    barrier.wait(std::move(token));
    value = values[(thread + 1) % kThreads];
    barrier.arrive_and_wait();
  }
  out[thread] = value;
}

// A quarter of the threads leaves after each round.
__global__ void leave(int* out) {
  __shared__ block_barrier barrier;
  __shared__ int sum[4];
  const int thread = threadIdx.x;
  if (thread == 0) init(&barrier, kThreads);
  if (thread < 4) sum[thread] = 0;
  __syncthreads();
  for (int round = 0; round < 4; ++round) {
    atomicAdd(&sum[round], 1);
    if (thread / 32 == round) {
      barrier.arrive_and_drop();
      return;
    }
    (void)barrier.arrive();
    barrier.wait_parity(round & 1);
    if (thread == kThreads - 1) out[round] = sum[round];
  }
}

// Warp 0 produces stages for the others: one lane of each warp arrives for it, after __syncwarp().
__global__ void produce_and_consume(int* out) {
  constexpr int kStages = 2, kItems = 6, kConsumers = kThreads / 32 - 1;
  __shared__ block_barrier full[kStages], empty[kStages];
  __shared__ int stage[kStages][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      init(&full[s], 1);
      init(&empty[s], kConsumers);
    }
  }
  __syncthreads();
  int sum = 0;
  for (int item = 0; item < kItems; ++item) {
    const int s = item % kStages;
    const bool lap = item / kStages & 1;
    if (warp == 0) {
      empty[s].wait_parity(!lap);
      stage[s][lane] = item * 32 + lane;
      __syncwarp();
      if (lane == 0) (void)full[s].arrive();
    } else {
      full[s].wait_parity(lap);
      sum += stage[s][31 - lane];
      __syncwarp();
      if (lane == 0) (void)empty[s].arrive();
    }
  }
  if (warp != 0) atomicAdd(out, sum);
}

// Copies land when the phase is over.
__global__ void copy(const int4* in, int* out) {
  __shared__ block_barrier barrier;
  __shared__ alignas(128) int4 tile[kThreads];
  const cg::thread_block block = cg::this_thread_block();
  if (block.thread_rank() == 0) {
    init(&barrier, block.size());
  }
  block.sync();
  cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], cuda::aligned_size_t<16>(sizeof(int4)), barrier);
  barrier.arrive_and_wait();
  int sum = tile[kThreads - 1 - threadIdx.x].x;
  barrier.arrive_and_wait();
  cuda::memcpy_async(block, tile, in + kThreads, sizeof(tile), barrier);
  barrier.arrive_and_wait();
  sum += tile[kThreads - 1 - threadIdx.x].y;
  out[threadIdx.x] = sum;
}

int main() {
  int* data;
  int4* vectors;
  cudaMallocManaged(&data, 4 * kThreads * sizeof(int));
  cudaMallocManaged(&vectors, 2 * kThreads * sizeof(int4));
  int *in = data, *out = data + kThreads, *left = data + 2 * kThreads, *total = left + 4, *copied = left + kThreads;
  for (int i = 0; i < kThreads; ++i) in[i] = i * i;
  for (int i = 0; i < 2 * kThreads; ++i) vectors[i] = make_int4(i, 10 * i, 100 * i, 0);
  *total = 0;
  rotate<<<1, kThreads>>>(in, out);
  leave<<<1, kThreads>>>(left);
  produce_and_consume<<<1, kThreads>>>(total);
  copy<<<1, kThreads>>>(vectors, copied);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int wrong = 0;
  for (int i = 0; i < kThreads; ++i) {
    const int from = (i + kRounds) % kThreads, other = kThreads - 1 - i;
    wrong += out[i] != from * from;
    wrong += copied[i] != other + 10 * (kThreads + other);
  }
  for (int round = 0; round < 3; ++round) wrong += left[round] != kThreads - 32 * round;
  wrong += *total != 3 * (6 * 32) * (6 * 32 - 1) / 2;
  cudaFree(data);
  cudaFree(vectors);
  std::printf("%s: %d wrong\n", wrong == 0 ? "PASSED" : "FAILED", wrong);
  return wrong == 0 ? 0 : 1;
}
