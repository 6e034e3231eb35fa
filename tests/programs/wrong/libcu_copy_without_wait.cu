// expect: read of shared memory 'tile' during an asynchronous copy
#include <cuda/barrier>

__global__ void kernel(int* data) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ alignas(16) int tile[64];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&tile[threadIdx.x], &data[threadIdx.x], cuda::aligned_size_t<4>(sizeof(int)), barrier);
  auto token = barrier.arrive();
  data[threadIdx.x] = tile[threadIdx.x];
  barrier.wait(std::move(token));
}

int main() {
  int* data;
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMemset(data, 0, 64 * sizeof(int));
  kernel<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
