// A program may define lerp(float, float, float) itself, as helper_math.h of NVIDIA's samples does, although C++20 has
// one.
#include <cstdio>

inline __host__ __device__ float lerp(float a, float b, float t) { return a + t * (b - a); }

__global__ void fill(float* x) { x[0] = lerp(1.0f, 3.0f, 0.25f); }

int main() {
  float* x;
  float host = 0;
  cudaMalloc(&x, sizeof(float));
  fill<<<1, 1>>>(x);
  cudaMemcpy(&host, x, sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  const bool right = host == 1.5f;
  std::printf(right ? "PASSED\n" : "FAILED: %g\n", host);
  return right ? 0 : 1;
}
