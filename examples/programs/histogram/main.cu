#include <cstdio>
#include <vector>

#include "histogram.h"

int main() {
  constexpr int kValues = 10000;
  std::vector<unsigned char> values(kValues);
  for (int i = 0; i < kValues; ++i) values[i] = i * i % kBins;

  unsigned char* device_values;
  int *device_bins, bins[kBins], sum = 0;
  cudaMalloc(&device_values, kValues);
  cudaMalloc(&device_bins, sizeof(bins));
  cudaMemcpy(device_values, values.data(), kValues, cudaMemcpyHostToDevice);
  cudaMemset(device_bins, 0, sizeof(bins));
  count_values(device_values, kValues, device_bins);
  cudaMemcpy(bins, device_bins, sizeof(bins), cudaMemcpyDeviceToHost);
  cudaFree(device_values);
  cudaFree(device_bins);

  for (int count : bins) sum += count;
  std::printf("%d of %d values counted\n", sum, kValues);
}
