// expect: read of uninitialized global memory 'states'
// Draws random numbers from states that curand_init did not start.
#include <curand_kernel.h>

#include <cstdio>

__global__ void draw(curandState* states, float* result) { result[threadIdx.x] = curand_uniform(&states[threadIdx.x]); }

int main() {
  curandState* states;
  float* result;
  cudaMalloc(&states, 32 * sizeof(curandState));
  cudaMalloc(&result, 32 * sizeof(float));
  draw<<<1, 32>>>(states, result);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(states);
  cudaFree(result);
  return 0;
}
