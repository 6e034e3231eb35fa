// libcu++: bulk copies that a barrier awaits by their bytes, through cuda::device and cuda::ptx. For sm_90.
#include <cuda/barrier>
#include <cuda/ptx>

#include <cstdio>
#include <utility>

namespace ptx = cuda::ptx;

constexpr int kThreads = 64, kTiles = 4, kStages = 2;

__global__ void through_device(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ alignas(16) int tile[kThreads];
  if (threadIdx.x == 0) init(&barrier, kThreads);
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(tile, in, cuda::aligned_size_t<16>(sizeof(tile)), barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof(tile));
  } else {
    token = barrier.arrive();
  }
  barrier.wait(std::move(token));
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

__global__ void through_ptx(const int* in, int* out) {
  __shared__ uint64_t full[kStages];
  __shared__ alignas(16) int tile[kStages][kThreads];
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) ptx::mbarrier_init(&full[s], 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  const auto start = [&](int t) {
    uint64_t* const barrier = &full[t % kStages];
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier, sizeof(tile[0]));
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[t % kStages], in + t * kThreads, sizeof(tile[0]),
                       barrier);
  };
  if (threadIdx.x == 0) start(0);
  int sum = 0;
  for (int t = 0; t < kTiles; ++t) {
    if (threadIdx.x == 0 && t + 1 < kTiles) start(t + 1);
    while (!ptx::mbarrier_try_wait_parity(&full[t % kStages], t / kStages & 1)) {
    }
    sum += tile[t % kStages][kThreads - 1 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

int main() {
  int *in, *out, wrong = 0;
  cudaMallocManaged(&in, kTiles * kThreads * sizeof(int));
  cudaMallocManaged(&out, 2 * kThreads * sizeof(int));
  for (int i = 0; i < kTiles * kThreads; ++i) in[i] = i * i;
  through_device<<<1, kThreads>>>(in, out);
  through_ptx<<<1, kThreads>>>(in, out + kThreads);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < kThreads; ++i) {
    int sum = 0;
    for (int t = 0; t < kTiles; ++t) sum += in[t * kThreads + kThreads - 1 - i];
    wrong += out[i] != in[kThreads - 1 - i] || out[kThreads + i] != sum;
  }
  cudaFree(in);
  cudaFree(out);
  std::printf("%s: %d wrong\n", wrong == 0 ? "PASSED" : "FAILED", wrong);
  return wrong == 0 ? 0 : 1;
}
