// expect: kernel 'fill' is called without <<<grid, block>>>
// A call through a pointer compiles with nvcc, and launches nothing on a GPU.
#include <cstdio>

__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }

using Fill = void (*)(int*, int);
Fill volatile chosen = fill;

int main() {
  int* numbers;
  cudaMalloc(&numbers, 32 * sizeof(int));
  fill<<<1, 32>>>(numbers, 1);
  cudaDeviceSynchronize();
  const Fill function = chosen;
  function(numbers, 2);
  cudaFree(numbers);
  std::puts("done");
  return 0;
}
