// expect: use an atomic operation such as atomicAdd
// Threads of a block increment one counter.
__global__ void count(const int* values, int* counts) { counts[values[threadIdx.x]] += 1; }

int main() {
  int *values, *counts;
  cudaMalloc(&values, 64 * sizeof(int));
  cudaMalloc(&counts, 4 * sizeof(int));
  cudaMemset(values, 0, 64 * sizeof(int));
  cudaMemset(counts, 0, 4 * sizeof(int));
  count<<<1, 64>>>(values, counts);
  cudaDeviceSynchronize();
  cudaFree(values);
  cudaFree(counts);
}
