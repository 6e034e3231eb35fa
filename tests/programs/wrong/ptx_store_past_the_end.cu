// expect: out-of-bounds write of global memory
// Stores vectors with inline PTX, the last one past the end.
#include <cstdio>

__global__ void fill(float* y, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  asm volatile("st.global.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(y + i), "f"(1.0f) : "memory");
}

int main() {
  constexpr int kCount = 102;
  float* y = nullptr;
  cudaMalloc(&y, kCount * sizeof(float));
  fill<<<1, 32>>>(y, kCount);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  return 0;
}
