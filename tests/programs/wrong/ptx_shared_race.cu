// expect: race on shared memory
// Lanes exchange numbers through shared memory with inline PTX, without a barrier.
#include <cstdio>

__global__ void reverse(const int* x, int* y) {
  __shared__ int tile[64];
  const int i = threadIdx.x;
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  asm volatile("st.shared.s32 [%0], %1;" ::"r"(base + 4 * i), "r"(x[i]) : "memory");
  int other;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(other) : "r"(base + 4 * (63 - i)));
  y[i] = other;
}

int main() {
  int *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMalloc(&y, 64 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  reverse<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
