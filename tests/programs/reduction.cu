// Sums by a tree in shared memory, by shuffles, and by atomics, with templates and a lambda.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                              \
  do {                                                                           \
    const cudaError_t error = (call);                                            \
    if (error != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

template <class T, class F>
__device__ T warp_sum(T value, F combine) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) {
    value = combine(value, __shfl_down_sync(0xffffffff, value, offset));
  }
  return value;
}

template <class T, int kThreads>
__global__ void __launch_bounds__(kThreads) sum(const T* data, T* total, int count) {
  __shared__ T tree[kThreads];
  T own = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) own += data[i];
  tree[threadIdx.x] = own;
  __syncthreads();
  for (int width = kThreads / 2; width >= 32; width /= 2) {
    if (threadIdx.x < width) tree[threadIdx.x] += tree[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    const T all = warp_sum(tree[threadIdx.x], [](T a, T b) { return a + b; });
    if (threadIdx.x == 0) atomicAdd(total, all);
  }
}

int main() {
  constexpr int kCount = 10000;
  std::vector<int> host(kCount);
  int expected = 0;
  for (int i = 0; i < kCount; ++i) expected += host[i] = i % 7 - 2;
  int *data, *total, found = 0;
  CHECK(cudaMalloc(&data, kCount * sizeof(int)));
  CHECK(cudaMalloc(&total, sizeof(int)));
  CHECK(cudaMemcpy(data, host.data(), kCount * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(total, 0, sizeof(int)));
  sum<int, 128><<<6, 128>>>(data, total, kCount);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&found, total, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(data));
  CHECK(cudaFree(total));
  std::printf("%s: %d of %d\n", found == expected ? "PASSED" : "FAILED", found, expected);
  return found == expected ? 0 : 1;
}
