// Counts 128 M bytes in 256 bins: in shared memory, then in global memory.
#include <cstdio>
#include <vector>

__global__ void histogram(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[data[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

int main() {
  constexpr int n = 128 << 20;
  std::vector<unsigned char> data(n);
  for (int i = 0; i < n; ++i) data[i] = static_cast<unsigned char>(i * 2654435761u >> 24);
  unsigned char* device_data;
  unsigned *device_bins, bins[256];
  cudaMalloc(&device_data, n);
  cudaMalloc(&device_bins, sizeof(bins));
  cudaMemset(device_bins, 0, sizeof(bins));
  cudaMemcpy(device_data, data.data(), n, cudaMemcpyHostToDevice);
  histogram<<<1024, 256>>>(device_data, n, device_bins);
  cudaMemcpy(bins, device_bins, sizeof(bins), cudaMemcpyDeviceToHost);
  std::printf("%u\n", bins[17]);
  cudaFree(device_data);
  cudaFree(device_bins);
}
