// Launches kernel templates whose parameters have __restrict__ and const, by deduced and by explicit arguments.
#include <cstdio>

template <typename T, typename U>
__global__ void scaled(T* __restrict__ y, const U* __restrict__ x, const T factor, const size_t n) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}

template <int kStep, class T>
__global__ void shifted(T* const __restrict__ y, T const* const __restrict__ x, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = x[(i + kStep) % n];
}

// g++ inlines this function, although it is neither static nor inline.
__attribute__((always_inline)) __device__ int one() { return 1; }

__global__ void add_one(int* __restrict__ y, int n) {
  if (static_cast<int>(threadIdx.x) < n) y[threadIdx.x] += one();
}

int main() {
  constexpr int kCount = 100;
  int host[kCount], *x, *y;
  for (int i = 0; i < kCount; ++i) host[i] = i;
  cudaMalloc(&x, sizeof(host));
  cudaMalloc(&y, sizeof(host));
  cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
  scaled<<<2, 64>>>(y, x, 3, kCount);
  shifted<1><<<1, 128>>>(x, y, kCount);
  scaled<int, int><<<2, 64>>>(y, x, 2, kCount);
  add_one<<<1, 128>>>(y, kCount);
  cudaMemcpy(host, y, sizeof(host), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  for (int i = 0; i < kCount; ++i) {
    if (host[i] != (i + 1) % kCount * 6 + 1) return std::printf("element %d is %d\n", i, host[i]), 1;
  }
  std::printf("PASSED\n");
  return 0;
}
