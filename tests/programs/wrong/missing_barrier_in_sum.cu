// expect: data race on shared memory 'tree'
#include <cstdio>

__global__ void sum(const int* data, int* total) {
  __shared__ int tree[128];
  tree[threadIdx.x] = data[threadIdx.x];
  for (int width = 64; width > 0; width /= 2) {
    if (threadIdx.x < width) tree[threadIdx.x] += tree[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) *total = tree[0];
}

int main() {
  int *data, *total, host[128], found;
  for (int i = 0; i < 128; ++i) host[i] = i;
  cudaMalloc(&data, sizeof(host));
  cudaMalloc(&total, sizeof(int));
  cudaMemcpy(data, host, sizeof(host), cudaMemcpyHostToDevice);
  sum<<<1, 128>>>(data, total);
  cudaMemcpy(&found, total, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", found);
  cudaFree(data);
  cudaFree(total);
}
