// Launches kernels that have unnamed parameters, overloads and template arguments that are only partly deduced.
#include <cstdio>
#include <type_traits>

template <class T, bool kNegative>
__global__ void fill(T* to, T value, std::bool_constant<kNegative>) {
  to[threadIdx.x] = kNegative ? -value : value;
}
__global__ void fill(double* to, int) { to[threadIdx.x] = 7; }
template <int kValue>
__global__ void set(int* to) {
  to[threadIdx.x] = kValue;
}
template <int kValue>
__global__ void set(float* to) {
  to[threadIdx.x] = kValue + 0.5f;
}
template <class T>
__global__ void copy(const T* from, T* to) {
  to[threadIdx.x] = from[threadIdx.x];
}

template <class T>
T last_of(T* device) {
  T value{};
  cudaMemcpy(&value, device + 31, sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(device);
  return value;
}

int main() {
  float* f;
  double* d;
  int *i, *from, *to;
  float* g;
  cudaMalloc(&f, 32 * sizeof(float));
  cudaMalloc(&g, 32 * sizeof(float));
  cudaMalloc(&d, 32 * sizeof(double));
  cudaMalloc(&i, 32 * sizeof(int));
  cudaMalloc(&from, 32 * sizeof(int));
  cudaMalloc(&to, 32 * sizeof(int));
  fill<<<1, 32>>>(f, 2.0f, std::bool_constant<true>{});
  fill<<<1, 32>>>(d, 0);
  set<4><<<1, 32>>>(i);
  set<5><<<1, 32>>>(g);
  cudaMemset(from, 1, 32 * sizeof(int));
  copy<<<1, 32>>>(from, to);
  copy<int><<<1, 32>>>(from, to);
  cudaFree(from);
  const float* constant;
  cudaMalloc(&constant, 16);
  cudaFree((void*)constant);
  const bool right =
      last_of(f) == -2.0f && last_of(d) == 7 && last_of(i) == 4 && last_of(g) == 5.5f && last_of(to) == 0x01010101;
  std::printf(right ? "PASSED\n" : "FAILED\n");
  return right ? 0 : 1;
}
