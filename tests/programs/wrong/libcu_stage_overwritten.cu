// expect: data race on shared memory 'stage'
// Two barriers, but one stage: the producer does not wait until the consumers have read it.
#include <cuda/barrier>

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void produce_and_consume(int* out) {
  __shared__ block_barrier full[2];
  __shared__ int stage[32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x < 2) init(&full[threadIdx.x], 32);
  __syncthreads();
  int sum = 0;
  for (int item = 0; item < 2; ++item) {
    if (warp == 0) {
      stage[lane] = item;
      (void)full[item].arrive();
    } else {
      full[item].wait_parity(false);
      sum += stage[31 - lane];
    }
  }
  out[threadIdx.x] = sum;
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  produce_and_consume<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
