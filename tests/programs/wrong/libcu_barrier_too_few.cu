// expect: threads of the block wait for each other forever
// The barrier expects all threads, but one warp does not arrive.
#include <cuda/barrier>

__global__ void sum(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int values[64];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  values[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 32) {
    barrier.arrive_and_wait();
    out[threadIdx.x] = values[threadIdx.x + 32];
  }
}

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  sum<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
