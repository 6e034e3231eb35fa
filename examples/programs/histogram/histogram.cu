// Counts values in bins: each block in shared memory first. The increments of a block race with each other.
#include "histogram.h"

__global__ void histogram(const unsigned char* values, int n, int* bins) {
  __shared__ int counts[kBins];
  if (threadIdx.x < kBins) counts[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) counts[values[i]] += 1;
  __syncthreads();
  if (threadIdx.x < kBins) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

void count_values(const unsigned char* values, int n, int* bins) {
  histogram<<<(n + 255) / 256, 256>>>(values, n, bins);
}
