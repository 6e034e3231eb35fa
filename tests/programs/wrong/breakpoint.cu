// expect: breakpoint.cu:5
#include <cstdio>

__global__ void stops() {
  if (threadIdx.x == 3) __brkpt();
}

int main() {
  stops<<<1, 32>>>();
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
