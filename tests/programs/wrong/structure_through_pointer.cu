// expect: cudaErrorInvalidDeviceFunction
// Launches a kernel with a structure as its parameter through a void*, whose layout is then unknown.
#include <cuda_runtime.h>

struct Box {
  int low, high;
};
__global__ void fill(int* y, Box box) { y[threadIdx.x] = box.low; }

int main() {
  int* y = nullptr;
  Box box = {1, 2};
  cudaMalloc(&y, 32 * sizeof(int));
  void* arguments[] = {&y, &box};
  const void* kernel = (const void*)fill;
  const cudaError_t error = cudaLaunchKernel(kernel, dim3(1), dim3(32), arguments, 0, nullptr);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
