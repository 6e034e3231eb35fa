// Runs a model on arrays in GPU memory within the program's own stream and prints the outputs: gpu_stream [MODEL]

#include <cuda_runtime_api.h>

#include <algorithm>
#include <convlab/convlab.hpp>
#include <cstdio>
#include <memory>
#include <vector>

using Floats = std::unique_ptr<float, decltype(&cudaFree)>;

Floats on_gpu(size_t count) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, count * sizeof(float)) != cudaSuccess) throw std::bad_alloc();
  return {static_cast<float*>(memory), &cudaFree};
}

int main(int argc, char** argv) try {
  convlab::Session session(argc > 1 ? argv[1] : "fa19", {.device = "cuda"});
  convlab::Shape shape = session.inputs().front().shape;
  std::ranges::replace_if(
      shape, [](int64_t size) { return size < 0; }, 1);  // sizes that the model leaves open
  convlab::Tensor images = convlab::Tensor::of<float>(shape);
  std::ranges::fill(images.values<float>(), 0.5f);
  convlab::Tensor scores = session.run(images);  // runs through host memory, to get the output's shape

  const Floats x = on_gpu(images.count()), y = on_gpu(scores.count());
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaMemcpyAsync(x.get(), images.data(), images.bytes(), cudaMemcpyHostToDevice, stream);
  session.run(convlab::View::on_device(x.get(), shape), convlab::MutableView::on_device(y.get(), scores.shape()),
              stream);
  cudaMemcpyAsync(scores.data(), y.get(), scores.bytes(), cudaMemcpyDeviceToHost, stream);
  const cudaError_t status = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  if (status != cudaSuccess) {
    std::fprintf(stderr, "gpu_stream: %s\n", cudaGetErrorString(status));
    return 1;
  }
  for (const float score : scores.values<float>()) std::printf("%.6f\n", score);
  return 0;
} catch (const convlab::Error& error) {
  std::fprintf(stderr, "gpu_stream: %s\n", error.what());
  return error.status();
}
