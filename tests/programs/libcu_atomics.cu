// libcu++: cuda::atomic and atomic_ref of several types and scopes, release and acquire, spin loops, fences, wait,
// latch and semaphore.
#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/atomic>

#include <cstdio>

__device__ cuda::atomic<unsigned, cuda::thread_scope_device> tickets{0};
__device__ int payload[64];

__global__ void operations(int* ints, unsigned long long* wide, float* real, int* wrong) {
  cuda::atomic_ref<int, cuda::thread_scope_device> counter(ints[0]);
  counter.fetch_add(1, cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_device>(ints[1]).fetch_max(threadIdx.x);
  cuda::atomic_ref<int, cuda::thread_scope_device>(ints[2]).fetch_min(-static_cast<int>(threadIdx.x));
  cuda::atomic_ref<int, cuda::thread_scope_device>(ints[3]).fetch_or(1 << threadIdx.x % 31);
  cuda::atomic_ref<unsigned long long>(*wide) += 1ull << 33;
  cuda::atomic_ref<float, cuda::thread_scope_device>(*real).fetch_add(0.5f);
  __shared__ cuda::atomic<int, cuda::thread_scope_block> local;
  __shared__ cuda::std::atomic<short> narrow;
  if (threadIdx.x == 0) {
    new (&local) cuda::atomic<int, cuda::thread_scope_block>(5);
    narrow.store(7);
  }
  __syncthreads();
  ++local;
  narrow++;
  local -= 2;
  __syncthreads();
  const int count = blockDim.x;
  if (local.load() != 5 - count || narrow != 7 + count) atomicAdd(wrong, 1);
  int expected = -1;
  if (local.compare_exchange_strong(expected, 9) || expected != 5 - count) atomicAdd(wrong, 1);
}

// Thread 0 waits for what the last thread of the block stores: the spin loop lets it run.
__global__ void flags(int* out) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> flag;
  __shared__ int data[2];
  if (threadIdx.x == 0) flag.store(0, cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x == blockDim.x - 1) {
    data[0] = 42;
    flag.store(1, cuda::memory_order_release);
    flag.notify_all();
    data[1] = 43;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_block);
    flag.store(2, cuda::memory_order_relaxed);
  } else if (threadIdx.x == 0) {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    out[0] = data[0];
    while (flag.load(cuda::memory_order_relaxed) != 2) {
    }
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block);
    out[1] = data[1];
  } else {
    flag.wait(0, cuda::memory_order_acquire);
    if (threadIdx.x == 1) out[2] = data[0];
  }
}

// Blocks pass a token on in the order in which they begin.
__global__ void chain(cuda::atomic<int, cuda::thread_scope_device>* token, int* sum) {
  const unsigned ticket = tickets.fetch_add(1, cuda::memory_order_relaxed);
  while (token->load(cuda::memory_order_acquire) != static_cast<int>(ticket)) {
  }
  *sum += static_cast<int>(ticket);
  payload[ticket] = *sum;
  token->store(static_cast<int>(ticket) + 1, cuda::memory_order_release);
}

__global__ void lock_and_latch(int* sum) {
  using Latch = cuda::latch<cuda::thread_scope_block>;
  __shared__ __align__(8) unsigned char place[sizeof(Latch)];
  Latch& done = *reinterpret_cast<Latch*>(place);
  __shared__ cuda::binary_semaphore<cuda::thread_scope_block> lock;
  __shared__ int total;
  if (threadIdx.x == 0) {
    new (&done) Latch(blockDim.x);
    new (&lock) cuda::binary_semaphore<cuda::thread_scope_block>(1);
    total = 0;
  }
  __syncthreads();
  lock.acquire();
  total += threadIdx.x;
  lock.release();
  done.arrive_and_wait();
  if (threadIdx.x == 0) *sum = total;
}

int main() {
  int *ints, wrong = 0;
  unsigned long long* wide;
  float* real;
  cudaMallocManaged(&ints, 16 * sizeof(int));
  cudaMallocManaged(&wide, sizeof(*wide));
  cudaMallocManaged(&real, sizeof(float));
  for (int i = 0; i < 16; ++i) ints[i] = 0;
  *wide = 0;
  *real = 0;
  auto* token = reinterpret_cast<cuda::atomic<int, cuda::thread_scope_device>*>(ints + 12);
  operations<<<4, 64>>>(ints, wide, real, ints + 4);
  flags<<<1, 96>>>(ints + 5);
  chain<<<32, 1>>>(token, ints + 8);
  lock_and_latch<<<1, 64>>>(ints + 9);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  wrong += ints[0] != 256 || ints[1] != 63 || ints[2] != -63 || ints[3] != 0x7fffffff || ints[4] != 0;
  wrong += *wide != 256ull << 33 || *real != 128.0f;
  wrong += ints[5] != 42 || ints[6] != 43 || ints[7] != 42;
  wrong += ints[8] != 31 * 32 / 2 || ints[9] != 63 * 64 / 2;
  cuda::std::atomic<int> on_host(3);
  on_host += 4;
  wrong += on_host.load() != 7;
  cudaFree(ints);
  cudaFree(wide);
  cudaFree(real);
  std::printf("%s: %d wrong\n", wrong == 0 ? "PASSED" : "FAILED", wrong);
  return wrong == 0 ? 0 : 1;
}
