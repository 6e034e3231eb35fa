// Captures two streams that an event forks and joins, launches the graph three times, and updates it.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                   \
    }                                                             \
  } while (0)
#define OK(call) CHECK((call) == cudaSuccess)

constexpr int kCount = 256;

template <class T>
__global__ void scale(T* y, T by) {
  y[blockIdx.x * blockDim.x + threadIdx.x] *= by;
}
__global__ void add(float* y, const float* x) { y[threadIdx.x] += x[threadIdx.x]; }

void count_call(void* calls) { ++*static_cast<int*>(calls); }

int capture(cudaStream_t stream, cudaStream_t side, float* x, float* y, float* pinned, float by, int* calls,
            cudaGraph_t* graph) {
  cudaEvent_t fork, join;
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaMemsetAsync(y, 0, kCount * sizeof(float), stream));
  OK(cudaEventRecord(fork, stream));
  OK(cudaStreamWaitEvent(side, fork, 0));
  scale<<<2, kCount / 2, 0, side>>>(x, by);
  OK(cudaEventRecord(join, side));
  OK(cudaStreamWaitEvent(stream, join, 0));
  add<<<1, kCount, 0, stream>>>(y, x);
  OK(cudaMemcpyAsync(pinned, y, kCount * sizeof(float), cudaMemcpyDeviceToHost, stream));
  OK(cudaLaunchHostFunc(stream, count_call, calls));
  cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(side, &status));
  CHECK(status == cudaStreamCaptureStatusActive);
  OK(cudaStreamEndCapture(stream, graph));
  OK(cudaEventDestroy(fork));
  OK(cudaEventDestroy(join));
  return 0;
}

int main() {
  float *x, *y, *pinned;
  OK(cudaMalloc(&x, kCount * sizeof(float)));
  OK(cudaMalloc(&y, kCount * sizeof(float)));
  OK(cudaMallocHost(&pinned, kCount * sizeof(float)));
  const std::vector<float> ones(kCount, 1.0f);
  OK(cudaMemcpy(x, ones.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  cudaStream_t stream, side;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamCreate(&side));
  int calls = 0;
  cudaGraph_t graph, other;
  if (capture(stream, side, x, y, pinned, 2.0f, &calls, &graph) != 0) return 1;
  CHECK(calls == 0);  // nothing has run
  size_t nodes = 0, roots = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  CHECK(nodes == 5 && roots == 1);

  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  OK(cudaGraphDestroy(graph));
  for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(executable, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(calls == 3 && pinned[0] == 8 && pinned[kCount - 1] == 8);

  if (capture(stream, side, x, y, pinned, 0.5f, &calls, &other) != 0) return 1;
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphExecUpdate(executable, other, &info));
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(calls == 4 && pinned[7] == 4);

  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
  cudaGraph_t none = nullptr;
  CHECK(cudaStreamEndCapture(stream, &none) == cudaErrorStreamCaptureInvalidated && none == nullptr);
  CHECK(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);

  OK(cudaGraphDestroy(other));
  OK(cudaGraphExecDestroy(executable));
  OK(cudaStreamDestroy(side));
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(x));
  OK(cudaFree(y));
  OK(cudaFreeHost(pinned));
  std::printf("PASSED\n");
  return 0;
}
