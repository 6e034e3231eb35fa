// Builds a graph from nodes, changes it, and launches kernels through pointers.
#include <cuda_runtime.h>

#include <cstdio>

#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                   \
    }                                                             \
  } while (0)
#define OK(call) CHECK((call) == cudaSuccess)

constexpr int kCount = 64;

// More numbers than registers hold, of all sizes.
__global__ void combine(double* y, float a, double b, signed char c, unsigned short d, long long e, bool f, int g,
                        int h, float i, double j, float k, float l, float m, float n, float o, float p) {
  y[threadIdx.x] += a + b + c + d + static_cast<double>(e) + (f ? 1 : 0) + g + h + i + j + k + l + m + n + o + p;
}
template <class T>
__global__ void add_number(T* y, int number) {
  y[threadIdx.x] += number;
}

void note(void* done) { *static_cast<bool*>(done) = true; }

int launch_by_pointer(double* y) {
  float a = 1, i = 9, k = 11, l = 12, m = 13, n = 14, o = 15, p = 16;
  double b = 2, j = 10;
  signed char c = -3;
  unsigned short d = 4;
  long long e = 5;
  bool f = true;
  int g = -7, h = 8;
  void* arguments[] = {&y, &a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l, &m, &n, &o, &p};
  OK(cudaLaunchKernel((void*)combine, dim3(1), dim3(kCount), arguments, 0, nullptr));
  OK(cudaLaunchKernel(combine, dim3(1), dim3(kCount), arguments, 0, nullptr));
  double result = 0;
  OK(cudaMemcpy(&result, y, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(result == 2 * (1 + 2 - 3 + 4 + 5 + 1 - 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16));
  cudaLaunchConfig_t configuration = {};
  configuration.gridDim = 1;
  configuration.blockDim = kCount;
  OK(cudaLaunchKernelEx(&configuration, add_number<double>, y, 5));
  OK(cudaMemcpy(&result, y, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(result == 2 * 111 + 5);
  return 0;
}

int main() {
  double *y, host[kCount];
  OK(cudaMalloc(&y, sizeof host));
  OK(cudaMemset(y, 0, sizeof host));
  if (launch_by_pointer(y) != 0) return 1;

  int *x, numbers[kCount], add = 30;
  bool done = false;
  OK(cudaMalloc(&x, sizeof numbers));
  cudaGraph_t graph;
  cudaGraphNode_t fill, kernel, copy, notify;
  OK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams memset = {};
  memset.dst = x;
  memset.value = 12;
  memset.elementSize = 4;
  memset.width = kCount;
  memset.height = 1;
  OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &memset));
  void* arguments[] = {&x, &add};
  cudaKernelNodeParams launch = {};
  launch.func = (void*)add_number<int>;
  launch.gridDim = dim3(1, 1, 1);
  launch.blockDim = dim3(kCount, 1, 1);
  launch.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
  OK(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, numbers, x, sizeof numbers, cudaMemcpyDeviceToHost));
  OK(cudaGraphAddDependencies(graph, &kernel, &copy, nullptr, 1));
  cudaHostNodeParams call = {note, &done};
  OK(cudaGraphAddHostNode(&notify, graph, &copy, 1, &call));
  cudaGraph_t clone;
  OK(cudaGraphClone(&clone, graph));
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  add = 0;  // the node has a copy
  OK(cudaGraphLaunch(executable, nullptr));
  OK(cudaDeviceSynchronize());
  CHECK(done && numbers[0] == 42 && numbers[kCount - 1] == 42);

  cudaKernelNodeParams read;
  OK(cudaGraphKernelNodeGetParams(kernel, &read));
  CHECK(read.func == launch.func && *static_cast<int*>(read.kernelParams[1]) == 30);
  add = -2;
  OK(cudaGraphExecKernelNodeSetParams(executable, kernel, &launch));
  OK(cudaGraphLaunch(executable, nullptr));
  OK(cudaDeviceSynchronize());
  CHECK(numbers[5] == 10);
  size_t nodes = 0;
  OK(cudaGraphGetNodes(clone, nullptr, &nodes));
  CHECK(nodes == 4);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(clone));
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(x));
  OK(cudaFree(y));
  std::printf("PASSED\n");
  return 0;
}
