// expect: a kernel launches a kernel: simt does not support dynamic parallelism

__global__ void child(int* x) { x[threadIdx.x] = 1; }

__global__ void parent(int* x) {
  if (threadIdx.x == 0) child<<<1, 32>>>(x);
}

int main() {
  int* device = nullptr;
  cudaMalloc(&device, 32 * sizeof(int));
  parent<<<1, 32>>>(device);
  cudaDeviceSynchronize();
  cudaFree(device);
}
