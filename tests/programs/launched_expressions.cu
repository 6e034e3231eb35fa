// Launches what is not a kernel's name: pointers in arrays and structs, and what a function returns.
#include <cstdio>

__global__ void add(int* data, int number) { atomicAdd(data, number); }

template <int kFactor>
__global__ void add_times(int* data, int number) {
  atomicAdd(data, number * kFactor);
}

using Kernel = void (*)(int*, int);

struct Table {
  Kernel kernel;
  Kernel kernels[2];
};

Kernel chosen(bool times) { return times ? add_times<10> : add; }

#define LAUNCH(kernel, ...) kernel<<<1, 1>>>(__VA_ARGS__)

int main() {
  Table table{add, {add, add_times<100>}}, *pointer = &table;
  const Kernel kernel = add_times<1000>;
  int *data, host = 0;
  cudaMalloc(&data, sizeof(int));
  cudaMemset(data, 0, sizeof(int));
  table.kernel<<<1, 1>>>(data, 1);
  pointer->kernels[1]<<<1, 1>>>(data, 2);
  if (kernel != nullptr) (*kernel)<<<1, 1>>>(data, 3);
  chosen(true)<<<1, 1>>>(data, 4);
  if (table.kernels[0] != nullptr) table.kernels[0]<<<dim3(1), dim3(1)>>>(data, 5);
  LAUNCH(add_times<10000>, data, 6);
  cudaMemcpy(&host, data, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(data);
  if (host != 63246) return std::printf("%d instead of 63246\n", host), 1;
  std::printf("PASSED\n");
  return 0;
}
