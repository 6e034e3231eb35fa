// Spellings that nvcc compiles and C++ compilers do not: names of removed functions, kernels whose parameter has their
// name, a call of a member template without `template`, and specifiers in macros.
#include <cstdint>
#include <cstdio>

#define SHARED_BY_BOTH __managed__
#define IN_FUNCTION __device__ __forceinline__

SHARED_BY_BOTH __device__ int calls = 0;
__device__ SHARED_BY_BOTH int more_calls = 0;

__shared__ extern int shared_of_file[];

__device__ float4 __shfl_down(const float4 value, const uint32_t lanes, const uint32_t width = 32) {
  return {__shfl_down_sync(0xFFFFFFFF, value.x, lanes, width), __shfl_down_sync(0xFFFFFFFF, value.y, lanes, width),
          __shfl_down_sync(0xFFFFFFFF, value.z, lanes, width), __shfl_down_sync(0xFFFFFFFF, value.w, lanes, width)};
}

template <class To, class From>
struct Cast {
  template <size_t kCount>
  IN_FUNCTION static void all(To* to, const From* from) {
    for (size_t i = 0; i < kCount; ++i) to[i] = static_cast<To>(from[i]);
  }
};

template <class To, class From, size_t kCount>
IN_FUNCTION void cast_all(To* to, const From* from) {
  Cast<To, From>::all<kCount>(to, from);
}

__global__ void moved(float4* moved) {
  const float4 own{float(threadIdx.x), 1, 2, 3};
  moved[threadIdx.x] = __shfl_down(own, 1);
  if (threadIdx.x == 0) shared_of_file[0] = 1;
  if (threadIdx.x == 0) calls += shared_of_file[0], ++more_calls;
}

template <class T>
__global__ void rounded(const float4* from, T* rounded) {
  cast_all<T, float, 4>(rounded, &from->x);
}

int main() {
  float4* floats;
  int *numbers, host[4];
  cudaMalloc(&floats, 32 * sizeof(float4));
  cudaMalloc(&numbers, 4 * sizeof(int));
  moved<<<1, 32, sizeof(int)>>>(floats);
  rounded<<<1, 1>>>(floats + 4, numbers);
  cudaMemcpy(host, numbers, sizeof(host), cudaMemcpyDeviceToHost);
  cudaFree(floats);
  cudaFree(numbers);
  if (host[0] != 5 || host[1] != 1 || host[2] != 2 || host[3] != 3) return std::printf("%d, not 5\n", host[0]), 1;
  if (calls != 1 || more_calls != 1) return std::printf("%d and %d calls, not 1\n", calls, more_calls), 1;
  std::printf("PASSED\n");
  return 0;
}
