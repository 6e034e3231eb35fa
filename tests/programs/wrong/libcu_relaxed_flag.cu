// expect: data race between blocks on global memory 'data'
// The flag is relaxed, so that it does not order the data.
#include <cuda/atomic>

__global__ void pass(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 42;
    ready.store(1, cuda::memory_order_relaxed);
  } else {
    while (ready.load(cuda::memory_order_relaxed) == 0) {
    }
    *out = *data;
  }
}

int main() {
  int* memory;
  cudaMalloc(&memory, 3 * sizeof(int));
  cudaMemset(memory, 0, 3 * sizeof(int));
  int* data = memory;
  pass<<<2, 1>>>(data, memory + 1, memory + 2);
  cudaDeviceSynchronize();
  cudaFree(memory);
}
