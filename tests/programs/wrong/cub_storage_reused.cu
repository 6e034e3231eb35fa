// expect: data race on shared memory 'storage'
#include <cub/cub.cuh>

__global__ void two_sums(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Reduce::TempStorage storage;
  const int sum = Reduce(storage).Sum(in[threadIdx.x]);
  // Missing: __syncthreads()
  const int squares = Reduce(storage).Sum(in[threadIdx.x] * in[threadIdx.x]);
  if (threadIdx.x == 0) *out = sum + squares;
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 128 * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(in, 0, 128 * sizeof(int));
  two_sums<<<1, 128>>>(in, out);
  cudaFree(in);
  cudaFree(out);
}
