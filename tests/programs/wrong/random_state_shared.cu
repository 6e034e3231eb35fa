// expect: data race on global memory 'state'
// All threads draw from one state.
#include <curand_kernel.h>

#include <cstdio>

__global__ void start(curandStatePhilox4_32_10_t* state) { curand_init(1, 0, 0, state); }

__global__ void draw(curandStatePhilox4_32_10_t* state, float* result) { result[threadIdx.x] = curand_uniform(state); }

int main() {
  curandStatePhilox4_32_10_t* state;
  float* result;
  cudaMalloc(&state, sizeof(curandStatePhilox4_32_10_t));
  cudaMalloc(&result, 64 * sizeof(float));
  start<<<1, 1>>>(state);
  draw<<<1, 64>>>(state, result);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(state);
  cudaFree(result);
  return 0;
}
