// expect: out-of-bounds write of global memory 'out'
#include <cub/cub.cuh>

int main() {
  constexpr int kCount = 100;
  int *in, *out;
  cudaMalloc(&in, kCount * sizeof(int));
  cudaMalloc(&out, kCount);  // sizeof(int) is missing
  cudaMemset(in, 0, kCount * sizeof(int));
  void* storage = nullptr;
  size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(storage, bytes, in, out, kCount);
  cudaMalloc(&storage, bytes);
  cub::DeviceScan::InclusiveSum(storage, bytes, in, out, kCount);
  cudaFree(storage);
  cudaFree(in);
  cudaFree(out);
}
