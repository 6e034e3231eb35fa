// CUB's iterators and operators, which CUDA 13 no longer has.
#include <cub/cub.cuh>

#include <cstdio>
#include <vector>

#if CUB_VERSION >= 300000
int main() {
  std::printf("PASSED: this CUB has no iterators\n");
  return 0;
}
#else
struct Square {
  __host__ __device__ float operator()(const float& x) const { return x * x; }
};
struct NotZero {
  __host__ __device__ bool operator()(const float& x) const { return x != 0; }
};

template <class F>
void run(F&& algorithm) {
  void* storage = nullptr;
  size_t bytes = 0;
  algorithm(storage, bytes);
  cudaMalloc(&storage, bytes);
  algorithm(storage, bytes);
  cudaFree(storage);
}

int main() {
  constexpr int kCount = 2500;
  std::vector<float> in(kCount);
  for (int i = 0; i < kCount; ++i) in[i] = static_cast<float>(i % 7 - 3);
  in[1234] = 9;
  float *items, *norm;
  int *places, *count;
  cub::KeyValuePair<int, float>* largest;
  cudaMalloc(&items, kCount * sizeof(float));
  cudaMalloc(&norm, sizeof(float));
  cudaMalloc(&places, kCount * sizeof(int));
  cudaMalloc(&count, sizeof(int));
  cudaMalloc(&largest, sizeof(*largest));
  cudaMemcpy(items, in.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);

  const cub::TransformInputIterator<float, Square, float*> squares(items, Square());
  const cub::TransformInputIterator<bool, NotZero, float*> flags(items, NotZero());
  const cub::CountingInputIterator<int> counting(0);
  run([&](void* t, size_t& b) { return cub::DeviceReduce::Reduce(t, b, squares, norm, kCount, cub::Sum(), 0.0f); });
  run([&](void* t, size_t& b) { return cub::DeviceSelect::Flagged(t, b, counting, flags, places, count, kCount); });
  run([&](void* t, size_t& b) { return cub::DeviceReduce::ArgMax(t, b, items, largest, kCount); });

  std::vector<int> expected;
  float expected_norm = 0;
  for (int i = 0; i < kCount; ++i) {
    expected_norm += in[i] * in[i];
    if (in[i] != 0) expected.push_back(i);
  }
  float found_norm = 0;
  int found_count = 0;
  cub::KeyValuePair<int, float> found_largest;
  cudaMemcpy(&found_norm, norm, sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(&found_count, count, sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(&found_largest, largest, sizeof(found_largest), cudaMemcpyDeviceToHost);
  std::vector<int> found(found_count);
  cudaMemcpy(found.data(), places, found_count * sizeof(int), cudaMemcpyDeviceToHost);
  for (void* memory : {static_cast<void*>(items), static_cast<void*>(norm), static_cast<void*>(places),
                       static_cast<void*>(count), static_cast<void*>(largest)}) {
    cudaFree(memory);
  }
  const bool right = found_norm == expected_norm && found == expected && found_largest.key == 1234 &&
                     found_largest.value == 9 && counting[5] == 5 && *(counting + 3) == 3;
  std::printf(right ? "PASSED\n" : "FAILED: %g of %g, %d of %zu, largest %d\n", found_norm, expected_norm, found_count,
              expected.size(), found_largest.key);
  return right ? 0 : 1;
}
#endif
