// c = a b for matrices of 1024 x 1024, one thread per element, with tiles in shared memory.
#include <cstdio>
#include <vector>

constexpr int kSize = 1024, kTile = 16;

__global__ void matmul(const float* a, const float* b, float* c) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int at = 0; at < kSize; at += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * kSize + at + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(at + threadIdx.y) * kSize + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * kSize + column] = sum;
}

int main() {
  constexpr size_t bytes = sizeof(float) * kSize * kSize;
  std::vector<float> a(kSize * kSize, 0.5f), b(kSize * kSize, 2.0f), c(kSize * kSize);
  float *device_a, *device_b, *device_c;
  cudaMalloc(&device_a, bytes);
  cudaMalloc(&device_b, bytes);
  cudaMalloc(&device_c, bytes);
  cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice);
  matmul<<<dim3(kSize / kTile, kSize / kTile), dim3(kTile, kTile)>>>(device_a, device_b, device_c);
  cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost);
  std::printf("%g\n", c[kSize * kSize - 1]);
  cudaFree(device_a);
  cudaFree(device_b);
  cudaFree(device_c);
}
