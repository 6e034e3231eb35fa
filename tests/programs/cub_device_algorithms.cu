// CUB's algorithms on arrays: reduce, scan, select, partition, encode, histogram, each in two phases.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int kCount = 5000;

struct IsOdd {
  __host__ __device__ bool operator()(const int& x) const { return x % 2 != 0; }
};
struct Multiply {
  __host__ __device__ unsigned operator()(unsigned a, unsigned b) const { return a * b; }
};

// Calls an algorithm twice: for the size of its temporary storage, and to run.
template <class F>
void run(F&& algorithm) {
  void* storage = nullptr;
  size_t bytes = 0;
  cudaError_t error = algorithm(storage, bytes);
  if (error == cudaSuccess) error = cudaMalloc(&storage, bytes);
  if (error == cudaSuccess) error = algorithm(storage, bytes);
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error));
  cudaFree(storage);
}

template <class T>
struct Array {
  T* device;
  size_t count;
  explicit Array(size_t n) : count(n) { cudaMalloc(&device, n * sizeof(T)); }
  explicit Array(const std::vector<T>& host) : Array(host.size()) {
    cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Array() { cudaFree(device); }
  std::vector<T> first(size_t n) const {
    std::vector<T> host(n);
    cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost);
    return host;
  }
};

int check_reductions(const std::vector<int>& in) {
  const Array<int> items(in);
  const Array<long long> sum(1);
  const Array<int> most(1), least(1);
  run([&](void* t, size_t& b) { return cub::DeviceReduce::Sum(t, b, items.device, sum.device, kCount); });
  run([&](void* t, size_t& b) { return cub::DeviceReduce::Max(t, b, items.device, most.device, kCount); });
  run([&](void* t, size_t& b) { return cub::DeviceReduce::Min(t, b, items.device, least.device, kCount); });
  const Array<unsigned> product(1);
  run([&](void* t, size_t& b) {
    return cub::DeviceReduce::Reduce(t, b, items.device, product.device, 9, Multiply(), 3u);
  });
  long long expected = 0;
  unsigned expected_product = 3;
  for (int x : in) expected += x;
  for (int i = 0; i < 9; ++i) expected_product *= static_cast<unsigned>(in[i]);
  return (sum.first(1)[0] != expected) + (most.first(1)[0] != *std::max_element(in.begin(), in.end())) +
         (least.first(1)[0] != *std::min_element(in.begin(), in.end())) + (product.first(1)[0] != expected_product);
}

int check_scans(const std::vector<int>& in) {
  const Array<int> items(in), exclusive(kCount);
  run([&](void* t, size_t& b) { return cub::DeviceScan::ExclusiveSum(t, b, items.device, exclusive.device, kCount); });
  // In place.
  run([&](void* t, size_t& b) { return cub::DeviceScan::InclusiveSum(t, b, items.device, items.device, kCount); });
  const std::vector<int> before = exclusive.first(kCount), upto = items.first(kCount);
  int wrong = 0, sum = 0;
  for (int i = 0; i < kCount; ++i) {
    wrong += before[i] != sum;
    sum += in[i];
    wrong += upto[i] != sum;
  }
  return wrong;
}

int check_selections(const std::vector<int>& in) {
  std::vector<char> every_third(kCount);
  for (int i = 0; i < kCount; ++i) every_third[i] = i % 3 == 0;
  const Array<int> items(in), odd(kCount), flagged(kCount), unique(kCount), parts(kCount), counts(4);
  const Array<char> flags(every_third);
  run([&](void* t, size_t& b) {
    return cub::DeviceSelect::If(t, b, items.device, odd.device, counts.device, kCount, IsOdd());
  });
  run([&](void* t, size_t& b) {
    return cub::DeviceSelect::Flagged(t, b, items.device, flags.device, flagged.device, counts.device + 1, kCount);
  });
  run([&](void* t, size_t& b) {
    return cub::DeviceSelect::Unique(t, b, items.device, unique.device, counts.device + 2, kCount);
  });
  run([&](void* t, size_t& b) {
    return cub::DevicePartition::If(t, b, items.device, parts.device, counts.device + 3, kCount, IsOdd());
  });
  std::vector<int> expected[3], others;
  for (int i = 0; i < kCount; ++i) {
    (IsOdd()(in[i]) ? expected[0] : others).push_back(in[i]);
    if (i % 3 == 0) expected[1].push_back(in[i]);
    if (i == 0 || in[i] != in[i - 1]) expected[2].push_back(in[i]);
  }
  const std::vector<int> found = counts.first(4);
  std::vector<int> partition = expected[0];
  partition.insert(partition.end(), others.rbegin(), others.rend());
  return (odd.first(found[0]) != expected[0]) + (flagged.first(found[1]) != expected[1]) +
         (unique.first(found[2]) != expected[2]) + (found[3] != found[0]) + (parts.first(kCount) != partition);
}

int check_runs(const std::vector<int>& in) {
  const Array<int> items(in), unique(kCount), lengths(kCount), runs(1);
  run([&](void* t, size_t& b) {
    return cub::DeviceRunLengthEncode::Encode(t, b, items.device, unique.device, lengths.device, runs.device, kCount);
  });
  std::vector<int> values, counts;
  for (int i = 0; i < kCount; ++i) {
    if (i == 0 || in[i] != in[i - 1]) {
      values.push_back(in[i]);
      counts.push_back(0);
    }
    ++counts.back();
  }
  const size_t found = runs.first(1)[0];
  return found != values.size() || unique.first(found) != values || lengths.first(found) != counts;
}

int check_histograms(const std::vector<int>& in) {
  const Array<int> items(in), even(10), ranges(3), levels(std::vector<int>{2, 5, 6, 30});
  run([&](void* t, size_t& b) {
    return cub::DeviceHistogram::HistogramEven(t, b, items.device, even.device, 11, 0, 20, kCount);
  });
  run([&](void* t, size_t& b) {
    return cub::DeviceHistogram::HistogramRange(t, b, items.device, ranges.device, 4, levels.device, kCount);
  });
  std::vector<int> expected(10), expected_ranges(3);
  for (int x : in) {
    if (x >= 0 && x < 20) ++expected[x / 2];
    if (x >= 2 && x < 30) ++expected_ranges[x < 5 ? 0 : x < 6 ? 1 : 2];
  }
  return (even.first(10) != expected) + (ranges.first(3) != expected_ranges);
}

int check_segments(const std::vector<int>& in) {
  const Array<int> items(in), offsets(std::vector<int>{0, 10, 10, 4000, kCount}), sums(4);
  run([&](void* t, size_t& b) {
    return cub::DeviceSegmentedReduce::Sum(t, b, items.device, sums.device, 4, offsets.device, offsets.device + 1);
  });
  const int bounds[] = {0, 10, 10, 4000, kCount};
  std::vector<int> expected(4);
  for (int s = 0; s < 4; ++s) {
    for (int i = bounds[s]; i < bounds[s + 1]; ++i) expected[s] += in[i];
  }
  return sums.first(4) != expected;
}

int main() {
  std::vector<int> in(kCount);
  for (int i = 0; i < kCount; ++i) in[i] = i / 3 * 13 % 31 - 4;
  const int wrong[] = {check_reductions(in), check_scans(in),      check_selections(in),
                       check_runs(in),       check_histograms(in), check_segments(in)};
  int all = 0;
  for (int i = 0; i < 6; ++i) {
    if (wrong[i] != 0) std::printf("check %d: %d wrong\n", i, wrong[i]);
    all += wrong[i];
  }
  std::printf(all == 0 ? "PASSED\n" : "FAILED\n");
  return all == 0 ? 0 : 1;
}
