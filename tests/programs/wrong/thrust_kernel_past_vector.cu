// expect: out-of-bounds write of global memory 'values'
#include <thrust/device_vector.h>

__global__ void fill(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) values[i] = i;
}

int main() {
  thrust::device_vector<int> values(1000);
  fill<<<4, 256>>>(thrust::raw_pointer_cast(values.data()), 1000);
  cudaDeviceSynchronize();
}
