// Declares shared memory in each way that CUDA allows: at file scope, in functions with C linkage, and with `static`.
#include <cstdio>

constexpr int kThreads = 64;

__shared__ int of_file[kThreads];

__global__ void reverse_of_file(int* data) {
  of_file[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = of_file[kThreads - 1 - threadIdx.x];
}

extern "C" {
__global__ void reverse_with_c_linkage(int* data) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}
}

extern "C" __global__ void reverse_alone_with_c_linkage(int* data) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

template <class T>
__device__ T mirrored(T value) {
  static __shared__ T tile[kThreads];
  tile[threadIdx.x] = value;
  __syncthreads();
  return tile[kThreads - 1 - threadIdx.x];
}

__device__ int mirrored_by_function(int value) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = value;
  __syncthreads();
  return tile[kThreads - 1 - threadIdx.x];
}

// Arrays of an inlined template. The compiler may compute the address of one from that of another.
template <class T>
__device__ __forceinline__ T moved_through_three(const T* data) {
  __shared__ T first[2][kThreads], second[kThreads], total;
  for (int row = 0; row < 2; ++row) first[row][threadIdx.x] = data[threadIdx.x];
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  second[threadIdx.x] = first[1][kThreads - 1 - threadIdx.x];
  __syncthreads();
  return second[threadIdx.x] + total;
}

template <class T>
__global__ void reverse_through_three(T* data) {
  data[threadIdx.x] = moved_through_three(data);
}

__global__ void reverse_with_function(int* data) { data[threadIdx.x] = mirrored_by_function(data[threadIdx.x]); }

__global__ void reverse_with_static(int* data) { data[threadIdx.x] = mirrored(data[threadIdx.x]); }

int main() {
  int host[kThreads], *data;
  for (int i = 0; i < kThreads; ++i) host[i] = i;
  cudaMalloc(&data, sizeof(host));
  void (*const kernels[])(int*) = {reverse_of_file, reverse_with_c_linkage, reverse_alone_with_c_linkage};
  for (int i = 0; i < 3; ++i) {
    cudaMemcpy(data, host, sizeof(host), cudaMemcpyHostToDevice);
    kernels[i]<<<1, kThreads>>>(data);
    cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
  }
  cudaMemcpy(data, host, sizeof(host), cudaMemcpyHostToDevice);
  reverse_with_static<<<1, kThreads>>>(data);
  for (int i = 0; i < 2; ++i) reverse_with_function<<<1, kThreads>>>(data);
  for (int i = 0; i < 2; ++i) reverse_through_three<<<1, kThreads>>>(data);
  cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
  cudaFree(data);
  for (int i = 0; i < kThreads; ++i) {
    if (host[i] != i) return std::printf("element %d is %d\n", i, host[i]), 1;
  }
  std::printf("PASSED\n");
  return 0;
}
