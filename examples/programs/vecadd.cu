// Adds two vectors. One thread of the last block is off by one.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void vecadd(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  const size_t bytes = n * sizeof(float);
  std::vector<float> a(n, 1.0f), b(n, 2.0f), c(n);
  float *device_a, *device_b, *device_c;
  cudaMalloc(&device_a, bytes);
  cudaMalloc(&device_b, bytes);
  cudaMalloc(&device_c, bytes);
  cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice);
  vecadd<<<(n + 255) / 256, 256>>>(device_a, device_b, device_c, n);
  cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost);
  std::printf("c[%d] = %g\n", n - 1, c[n - 1]);
  cudaFree(device_a);
  cudaFree(device_b);
  cudaFree(device_c);
}
