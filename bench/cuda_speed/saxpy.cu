// y = a x + y, 32 times over 8 M elements.
#include <cstdio>
#include <vector>

__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

int main() {
  constexpr int n = 8 << 20;
  std::vector<float> x(n, 2.0f), y(n, 1.0f);
  float *device_x, *device_y;
  cudaMalloc(&device_x, n * sizeof(float));
  cudaMalloc(&device_y, n * sizeof(float));
  cudaMemcpy(device_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(device_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  for (int i = 0; i < 32; ++i) saxpy<<<n / 256, 256>>>(0.5f, device_x, device_y, n);
  cudaMemcpy(y.data(), device_y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", y[n - 1]);
  cudaFree(device_x);
  cudaFree(device_y);
}
