// expect: data race on shared memory 'stage'
// The producer waits for the consumers once, and then overwrites what they read next.
#include <cuda/barrier>

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void produce_and_consume(int* out) {
  __shared__ block_barrier full[3], empty;
  __shared__ int stage[32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int item = 0; item < 3; ++item) init(&full[item], 32);
    init(&empty, 64);
  }
  __syncthreads();
  int sum = 0;
  for (int item = 0; item < 3; ++item) {
    if (warp == 0) {
      if (item == 1) empty.wait_parity(false);
      stage[lane] = item;
      (void)full[item].arrive();
    } else {
      full[item].wait_parity(false);
      sum += stage[31 - lane];
      (void)empty.arrive();
    }
  }
  out[threadIdx.x] = sum;
}

int main() {
  int* out;
  cudaMalloc(&out, 96 * sizeof(int));
  produce_and_consume<<<1, 96>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
