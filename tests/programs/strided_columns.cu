// Sums columns of a wide matrix: each block touches many pages of memory, which must not make it slow.
#include <cstdio>
#include <vector>

constexpr int kRows = 256, kColumns = 4096;

__global__ void sum_columns(const int* matrix, int* sums) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int row = 0; row < kRows; ++row) sum += matrix[row * kColumns + column];
  sums[column] = sum;
}

int main() {
  std::vector<int> host(kRows * kColumns, 2);
  int *matrix, *sums;
  cudaMalloc(&matrix, host.size() * sizeof(int));
  cudaMalloc(&sums, kColumns * sizeof(int));
  cudaMemcpy(matrix, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
  sum_columns<<<kColumns / 16, 16>>>(matrix, sums);
  cudaMemcpy(host.data(), sums, kColumns * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(matrix);
  cudaFree(sums);
  for (int i = 0; i < kColumns; ++i) {
    if (host[i] != 2 * kRows) return std::printf("column %d: %d\n", i, host[i]), 1;
  }
  std::printf("PASSED\n");
  return 0;
}
