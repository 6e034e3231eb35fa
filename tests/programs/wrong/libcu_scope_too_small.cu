// expect: data race between blocks on global memory 'total'
// The scope of the block does not make the operation atomic among blocks.
#include <cuda/atomic>

__global__ void count(int* total) {
  cuda::atomic_ref<int, cuda::thread_scope_block> counter(*total);
  counter.fetch_add(1, cuda::memory_order_relaxed);
}

int main() {
  int* total;
  cudaMalloc(&total, sizeof(int));
  cudaMemset(total, 0, sizeof(int));
  count<<<8, 32>>>(total);
  cudaDeviceSynchronize();
  cudaFree(total);
}
