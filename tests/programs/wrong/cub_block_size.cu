// expect: cub::BlockScan: the block has as many threads as its template says
#include <cub/cub.cuh>

__global__ void scan(int* data) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage storage;
  Scan(storage).ExclusiveSum(data[threadIdx.x], data[threadIdx.x]);
}

int main() {
  int* data;
  cudaMalloc(&data, 128 * sizeof(int));
  cudaMemset(data, 0, 128 * sizeof(int));
  scan<<<1, 64>>>(data);
  cudaFree(data);
}
