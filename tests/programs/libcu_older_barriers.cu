// The older forms of cuda::barrier and cuda::pipeline: nvcuda::experimental.
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>

#include <cstdio>

namespace older = nvcuda::experimental;

__global__ void reverse(const int* in, int* out) {
  __shared__ older::awbarrier barrier;
  __shared__ int tile[64], copied[64];
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  tile[threadIdx.x] = in[threadIdx.x];
  older::awbarrier::arrival_token token = barrier.arrive();
  barrier.wait(token);
  const int value = tile[63 - threadIdx.x];
  older::pipeline pipe;
  older::memcpy_async(copied[threadIdx.x], in[threadIdx.x], pipe);
  pipe.commit();
  pipe.wait_prior<0>();
  barrier.arrive_and_wait();
  out[threadIdx.x] = value + 1000 * copied[(threadIdx.x + 1) % 64];
}

int main() {
  int *in, *out, wrong = 0;
  cudaMallocManaged(&in, 64 * sizeof(int));
  cudaMallocManaged(&out, 64 * sizeof(int));
  for (int i = 0; i < 64; ++i) in[i] = i * 7 % 64;
  reverse<<<1, 64>>>(in, out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < 64; ++i) wrong += out[i] != in[63 - i] + 1000 * in[(i + 1) % 64];
  cudaFree(in);
  cudaFree(out);
  std::printf("%s: %d wrong\n", wrong == 0 ? "PASSED" : "FAILED", wrong);
  return wrong == 0 ? 0 : 1;
}
