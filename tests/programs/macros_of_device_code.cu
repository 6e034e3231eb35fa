// Shared arrays and launches in the bodies of macros, and comparisons with the architecture.

#include <cuda_runtime.h>

#include <cstdio>

#define DYNAMIC_SHARED(type, name)   \
  struct Shared_##name {             \
    __device__ operator type*() {    \
      extern __shared__ type name[]; \
      return name;                   \
    }                                \
  };
DYNAMIC_SHARED(int, ints)
DYNAMIC_SHARED(float, floats)

#define STATIC_SHARED(type, name, count) __shared__ alignas(16) type name[count]

#define LAUNCH(kernel, blocks, threads, bytes, ...) kernel<<<blocks, threads, bytes>>>(__VA_ARGS__)

__global__ void reverse(int* out) {
  int* values = Shared_ints();
  STATIC_SHARED(float, halves, 64);
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  halves[threadIdx.x] = 0.5f * static_cast<float>(threadIdx.x);
  __syncthreads();
  const unsigned other = blockDim.x - 1 - threadIdx.x;
  out[threadIdx.x] = values[other] + static_cast<int>(2 * halves[other]);
}

__global__ void architecture(int* out) {
#if __CUDA_ARCH__ >= 700
  out[0] = 7;
#else
  out[0] = 0;
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
  out[1] = 1;
#elif 800 <= __CUDA_ARCH__
  out[1] = 8;
#endif
}

// Whether device code is compiled apart from host code depends on the compiler: this is for both.
__host__ __device__ int squared(int x) {
#ifdef __CUDA_ARCH__
  return __mul24(x, x);
#else
  return x * x;
#endif
}

int main() {
  int* device = nullptr;
  cudaMalloc(&device, 64 * sizeof(int));
  int host[64];
  LAUNCH(reverse, 1, 64, 64 * sizeof(int), device);
  cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) {
    if (host[i] != 2 * (63 - i)) return printf("reverse: %d at %d\n", host[i], i), 1;
  }
  architecture<<<1, 1>>>(device);
  cudaMemcpy(host, device, 2 * sizeof(int), cudaMemcpyDeviceToHost);
  if (host[0] != 7 || host[1] != 8 || squared(5) != 25) return printf("architecture: %d %d\n", host[0], host[1]), 1;
  cudaFree(device);
  puts("PASSED");
  return 0;
}
