// CUB's sorts of arrays: keys and pairs, ascending and descending, with a double buffer, by some bits, by a comparison.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

constexpr int kCount = 3000;

struct Greater {
  __host__ __device__ bool operator()(const float& a, const float& b) const { return a > b; }
};

template <class F>
void run(F&& algorithm) {
  void* storage = nullptr;
  size_t bytes = 0;
  algorithm(storage, bytes);
  cudaMalloc(&storage, bytes);
  if (algorithm(storage, bytes) != cudaSuccess) std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(storage);
}
template <class T>
T* on_device(const std::vector<T>& host) {
  T* device;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <class T>
std::vector<T> on_host(const T* device) {
  std::vector<T> host(kCount);
  cudaMemcpy(host.data(), device, kCount * sizeof(T), cudaMemcpyDeviceToHost);
  return host;
}

int main() {
  std::vector<float> keys(kCount);
  std::vector<int> values(kCount);
  for (int i = 0; i < kCount; ++i) {
    keys[i] = static_cast<float>((i * 613 + 17) % 1499 - 700) / 8;
    values[i] = i;
  }
  std::vector<int> up(kCount), down(kCount), by_bits(kCount);
  std::iota(up.begin(), up.end(), 0);
  down = by_bits = up;
  std::stable_sort(up.begin(), up.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  std::stable_sort(down.begin(), down.end(), [&](int a, int b) { return keys[a] > keys[b]; });
  std::stable_sort(by_bits.begin(), by_bits.end(), [](int a, int b) { return (a >> 3 & 1023) < (b >> 3 & 1023); });
  std::vector<float> sorted = keys, sorted_down = keys;
  std::sort(sorted.begin(), sorted.end());
  std::sort(sorted_down.rbegin(), sorted_down.rend());

  float *in = on_device(keys), *out = on_device(keys);
  int *values_in = on_device(values), *values_out = on_device(values);
  int wrong = 0;
  run([&](void* t, size_t& b) { return cub::DeviceRadixSort::SortKeys(t, b, in, out, kCount); });
  wrong += on_host(out) != sorted;
  run([&](void* t, size_t& b) {
    return cub::DeviceRadixSort::SortPairsDescending(t, b, in, out, values_in, values_out, kCount);
  });
  wrong += on_host(out) != sorted_down || on_host(values_out) != down;
  run([&](void* t, size_t& b) { return cub::DeviceRadixSort::SortKeys(t, b, values_in, values_out, kCount, 3, 13); });
  wrong += on_host(values_out) != by_bits;

  cub::DoubleBuffer<float> both_keys(in, out);
  cub::DoubleBuffer<int> both_values(values_in, values_out);
  run([&](void* t, size_t& b) { return cub::DeviceRadixSort::SortPairs(t, b, both_keys, both_values, kCount); });
  wrong += on_host(both_keys.Current()) != sorted || on_host(both_values.Current()) != up;

  cudaMemcpy(in, keys.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(values_in, values.data(), kCount * sizeof(int), cudaMemcpyHostToDevice);
  run([&](void* t, size_t& b) {
    return cub::DeviceMergeSort::StableSortPairs(t, b, in, values_in, kCount, Greater());
  });
  wrong += on_host(in) != sorted_down || on_host(values_in) != down;
  cudaFree(in);
  cudaFree(out);
  cudaFree(values_in);
  cudaFree(values_out);
  std::printf(wrong == 0 ? "PASSED\n" : "FAILED: %d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
