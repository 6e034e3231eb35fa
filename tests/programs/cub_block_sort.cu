// CUB's sorts of a block: floats with values, descending integers, some bits only, and a striped result.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

constexpr int kThreads = 64, kItems = 3, kCount = kThreads * kItems;

__global__ void sort_pairs(float* keys, int* values) {
  using Sort = cub::BlockRadixSort<float, kThreads, kItems, int>;
  __shared__ typename Sort::TempStorage storage;
  float own_keys[kItems];
  int own_values[kItems];
  cub::LoadDirectBlocked(threadIdx.x, keys, own_keys);
  cub::LoadDirectBlocked(threadIdx.x, values, own_values);
  Sort(storage).Sort(own_keys, own_values);
  cub::StoreDirectBlocked(threadIdx.x, keys, own_keys);
  cub::StoreDirectBlocked(threadIdx.x, values, own_values);
}

__global__ void sort_keys(int* keys, unsigned* some_bits) {
  using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
  using Bits = cub::BlockRadixSort<unsigned, kThreads, kItems>;
  __shared__ union {
    typename Sort::TempStorage sort;
    typename Bits::TempStorage bits;
  } storage;
  int own[kItems];
  unsigned own_bits[kItems];
  cub::LoadDirectBlocked(threadIdx.x, keys, own);
  cub::LoadDirectBlocked(threadIdx.x, some_bits, own_bits);
  Sort(storage.sort).SortDescendingBlockedToStriped(own);
  __syncthreads();
  Bits(storage.bits).Sort(own_bits, 4, 9);
  cub::StoreDirectStriped<kThreads>(threadIdx.x, keys, own);
  cub::StoreDirectBlocked(threadIdx.x, some_bits, own_bits);
}

template <class T>
T* on_device(const std::vector<T>& host) {
  T* device;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <class T>
void to_host(std::vector<T>& host, T* device) {
  cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(device);
}

int main() {
  std::vector<float> keys(kCount);
  std::vector<int> values(kCount), numbers(kCount);
  std::vector<unsigned> bits(kCount);
  for (int i = 0; i < kCount; ++i) {
    keys[i] = static_cast<float>((i * 61 + 17) % 97 - 48) * 0.25f;
    values[i] = i;
    numbers[i] = (i * 7919 + 31) % 1009 - 500;
    bits[i] = static_cast<unsigned>(i * 2654435761u);
  }
  float* d_keys = on_device(keys);
  int *d_values = on_device(values), *d_numbers = on_device(numbers);
  unsigned* d_bits = on_device(bits);
  sort_pairs<<<1, kThreads>>>(d_keys, d_values);
  sort_keys<<<1, kThreads>>>(d_numbers, d_bits);

  std::vector<int> order(kCount);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  std::vector<float> sorted_keys(kCount);
  for (int i = 0; i < kCount; ++i) sorted_keys[i] = keys[order[i]];
  std::vector<int> sorted_numbers = numbers;
  std::sort(sorted_numbers.rbegin(), sorted_numbers.rend());
  std::vector<unsigned> sorted_bits = bits;
  std::stable_sort(sorted_bits.begin(), sorted_bits.end(),
                   [](unsigned a, unsigned b) { return (a >> 4 & 31u) < (b >> 4 & 31u); });
  to_host(keys, d_keys);
  to_host(values, d_values);
  to_host(numbers, d_numbers);
  to_host(bits, d_bits);
  const bool right = keys == sorted_keys && values == order && numbers == sorted_numbers && bits == sorted_bits;
  std::printf(right ? "PASSED\n" : "FAILED: %d %d %d %d\n", keys == sorted_keys, values == order,
              numbers == sorted_numbers, bits == sorted_bits);
  return right ? 0 : 1;
}
