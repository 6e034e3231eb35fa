// The mean of each point of a 2048 x 2048 grid and its four neighbors, 32 times.
#include <cstdio>
#include <utility>
#include <vector>

constexpr int kSize = 2048;

__global__ void smooth(const float* from, float* to) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * kSize + x;
  if (x == 0 || y == 0 || x == kSize - 1 || y == kSize - 1) {
    to[i] = from[i];
  } else {
    to[i] = 0.2f * (from[i] + from[i - 1] + from[i + 1] + from[i - kSize] + from[i + kSize]);
  }
}

int main() {
  constexpr size_t bytes = sizeof(float) * kSize * kSize;
  std::vector<float> grid(kSize * kSize);
  for (int i = 0; i < kSize * kSize; ++i) grid[i] = static_cast<float>(i % 7);
  float *from, *to;
  cudaMalloc(&from, bytes);
  cudaMalloc(&to, bytes);
  cudaMemcpy(from, grid.data(), bytes, cudaMemcpyHostToDevice);
  for (int step = 0; step < 32; ++step, std::swap(from, to)) {
    smooth<<<dim3(kSize / 32, kSize / 8), dim3(32, 8)>>>(from, to);
  }
  cudaMemcpy(grid.data(), from, bytes, cudaMemcpyDeviceToHost);
  std::printf("%g\n", grid[kSize * kSize / 2 + 5]);
  cudaFree(from);
  cudaFree(to);
}
