// libcu++: cuda::pipeline of a thread and of a block, unified and with producers and consumers; its older primitives.
#include <cooperative_groups.h>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <cstdio>

namespace cg = cooperative_groups;

constexpr int kThreads = 64, kTiles = 6;

// Each thread waits for its own copies.
__global__ void of_thread(const int* in, int* out) {
  __shared__ int tile[2][kThreads];
  const int thread = threadIdx.x;
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  const auto size = cuda::aligned_size_t<alignof(int)>(sizeof(int));
  int sum = 0;
  for (int next = 0, t = 0; t < kTiles; ++t) {
    for (; next < kTiles && next < t + 2; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(&tile[next % 2][thread], &in[next * kThreads + thread], size, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    __syncthreads();
    sum += tile[t % 2][kThreads - 1 - thread];
    __syncthreads();
    pipe.consumer_release();
  }
  pipe.producer_acquire();
  cuda::memcpy_async(&tile[0][thread], &in[thread], size, pipe);
  pipe.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  out[thread] = sum + tile[0][thread];
}

// All threads copy and compute; the pipeline needs no other barrier.
__global__ void of_block(const int* in, int* out) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ alignas(16) int tile[2][kThreads];
  const cg::thread_block block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int next = 0, t = 0; t < kTiles; ++t) {
    for (; next < kTiles && next < t + 2; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[next % 2], in + next * kThreads, sizeof(tile[0]), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += tile[t % 2][kThreads - 1 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

// One warp produces for the other.
__global__ void by_role(const int* in, int* out) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
  __shared__ int tile[3][32];
  const cg::thread_block block = cg::this_thread_block();
  const int lane = threadIdx.x % 32;
  const bool produces = threadIdx.x < 32;
  auto pipe =
      cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int sum = 0;
  for (int t = 0; t < 2 * kTiles; ++t) {
    if (produces) {
      pipe.producer_acquire();
      cuda::memcpy_async(&tile[t % 3][lane], &in[t * 32 + lane], sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum += tile[t % 3][31 - lane];
      pipe.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}

// Copies of the primitives that a barrier awaits.
__global__ void primitives(const int* in, int* out) {
  __shared__ __mbarrier_t barrier;
  __shared__ int tile[kThreads];
  if (threadIdx.x == 0) __mbarrier_init(&barrier, kThreads);
  __syncthreads();
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_arrive_on(&barrier);
  const __mbarrier_token_t token = __mbarrier_arrive(&barrier);
  while (!__mbarrier_try_wait(&barrier, token, 1000)) {
  }
  int sum = tile[kThreads - 1 - threadIdx.x];
  __syncthreads();
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[kThreads + threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = sum + tile[threadIdx.x];
}

int main() {
  int *in, *out, wrong = 0;
  cudaMallocManaged(&in, kTiles * kThreads * sizeof(int));
  cudaMallocManaged(&out, 4 * kThreads * sizeof(int));
  for (int i = 0; i < kTiles * kThreads; ++i) in[i] = i * i % 1000;
  of_thread<<<1, kThreads>>>(in, out);
  of_block<<<1, kThreads>>>(in, out + kThreads);
  by_role<<<1, kThreads>>>(in, out + 2 * kThreads);
  primitives<<<1, kThreads>>>(in, out + 3 * kThreads);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < kThreads; ++i) {
    int sum = 0, by_warp = 0;
    const int other = kThreads - 1 - i;
    for (int t = 0; t < kTiles; ++t) sum += in[t * kThreads + other];
    for (int t = 0; t < 2 * kTiles; ++t) by_warp += in[t * 32 + 31 - i % 32];
    wrong += out[i] != sum + in[i];
    wrong += out[kThreads + i] != sum;
    wrong += out[2 * kThreads + i] != (i < 32 ? 0 : by_warp);
    wrong += out[3 * kThreads + i] != in[other] + in[kThreads + i];
  }
  cudaFree(in);
  cudaFree(out);
  std::printf("%s: %d wrong\n", wrong == 0 ? "PASSED" : "FAILED", wrong);
  return wrong == 0 ? 0 : 1;
}
