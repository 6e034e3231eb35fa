// Thrust's prefix sums, also by key, and algorithms that keep some elements.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/transform_scan.h>
#include <thrust/unique.h>

#include <cstdio>
#include <vector>

using Ints = std::vector<int>;
int wrong = 0;
void check(bool holds, const char* what) {
  if (!holds) std::printf("FAILED: %s\n", what), ++wrong;
}
bool is(const thrust::device_vector<int>& v, const Ints& values) {
  return v.size() >= values.size() && thrust::device_vector<int>(v.begin(), v.begin() + values.size()) == values;
}

struct IsSet {
  __host__ __device__ bool operator()(int flag) const { return flag != 0; }
};
struct IsEven {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};

void scans(const thrust::device_vector<int>& v) {
  thrust::device_vector<int> out(v.size());
  thrust::inclusive_scan(v.begin(), v.end(), out.begin());
  check(is(out, {3, 4, 8, 9, 14, 23}), "inclusive_scan");
  thrust::exclusive_scan(v.begin(), v.end(), out.begin());
  check(is(out, {0, 3, 4, 8, 9, 14}), "exclusive_scan");
  thrust::exclusive_scan(v.begin(), v.end(), out.begin(), 10);
  check(is(out, {10, 13, 14, 18, 19, 24}), "exclusive_scan with an initial value");
  thrust::inclusive_scan(v.begin(), v.end(), out.begin(), thrust::maximum<int>());
  check(is(out, {3, 3, 4, 4, 5, 9}), "inclusive_scan with maximum");
  thrust::transform_inclusive_scan(v.begin(), v.end(), out.begin(), thrust::negate<int>(), thrust::plus<int>());
  check(is(out, {-3, -4, -8, -9, -14, -23}), "transform_inclusive_scan");
  thrust::transform_exclusive_scan(v.begin(), v.end(), out.begin(), thrust::negate<int>(), 5, thrust::plus<int>());
  check(is(out, {5, 2, 1, -3, -4, -9}), "transform_exclusive_scan");
  out = v;
  int* const raw = thrust::raw_pointer_cast(out.data());
  thrust::inclusive_scan(thrust::device, raw, raw + out.size(), raw);
  check(is(out, {3, 4, 8, 9, 14, 23}), "inclusive_scan in place");
  const thrust::device_vector<int> keys(Ints{1, 1, 2, 2, 2, 1});
  thrust::inclusive_scan_by_key(keys.begin(), keys.end(), v.begin(), out.begin());
  check(is(out, {3, 4, 4, 5, 10, 9}), "inclusive_scan_by_key");
  thrust::exclusive_scan_by_key(keys.begin(), keys.end(), v.begin(), out.begin(), 100);
  check(is(out, {100, 103, 100, 104, 105, 100}), "exclusive_scan_by_key");
  thrust::device_vector<int> out_keys(6);
  const auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), v.begin(), out_keys.begin(), out.begin());
  check(ends.first - out_keys.begin() == 3 && is(out_keys, {1, 2, 1}) && is(out, {4, 10, 9}), "reduce_by_key");
  const auto counts = thrust::reduce_by_key(keys.begin(), keys.end(), thrust::constant_iterator<int>(1),
                                            thrust::make_discard_iterator(), out.begin());
  check(counts.second - out.begin() == 3 && is(out, {2, 3, 1}), "reduce_by_key of a constant");
}

void compactions(const thrust::device_vector<int>& v) {
  thrust::device_vector<int> out(v.size());
  auto end = thrust::copy_if(v.begin(), v.end(), out.begin(), IsEven());
  check(end - out.begin() == 1 && out[0] == 4, "copy_if");
  const thrust::device_vector<int> flags(Ints{0, 1, 0, 0, 1, 1});
  end = thrust::copy_if(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(6), flags.begin(),
                        out.begin(), IsSet());
  check(end - out.begin() == 3 && is(out, {1, 4, 5}), "copy_if with a stencil");
  out = v;
  end = thrust::remove_if(out.begin(), out.end(), IsEven());
  check(end - out.begin() == 5 && is(out, {3, 1, 1, 5, 9}), "remove_if");
  end = thrust::remove(out.begin(), end, 1);
  check(end - out.begin() == 3 && is(out, {3, 5, 9}), "remove");
  out = v;
  int* const raw = thrust::raw_pointer_cast(out.data());
  int* const raw_end = thrust::remove_if(thrust::device, raw, raw + 6, thrust::raw_pointer_cast(flags.data()), IsSet());
  check(raw_end - raw == 3 && is(out, {3, 4, 1}), "remove_if with a stencil");
  out = Ints{1, 1, 2, 2, 2, 1};
  end = thrust::unique(out.begin(), out.end());
  check(end - out.begin() == 3 && is(out, {1, 2, 1}), "unique");
  thrust::device_vector<int> keys(Ints{1, 1, 2, 2, 2, 1}), values = v;
  const auto ends = thrust::unique_by_key(keys.begin(), keys.end(), values.begin());
  check(ends.second - values.begin() == 3 && is(keys, {1, 2, 1}) && is(values, {3, 4, 9}), "unique_by_key");
  out = Ints{1, 2, 3, 4, 5, 6};
  end = thrust::stable_partition(out.begin(), out.end(), IsEven());
  check(end - out.begin() == 3 && is(out, {2, 4, 6, 1, 3, 5}), "stable_partition");
  check(thrust::is_partitioned(out.begin(), out.end(), IsEven()), "is_partitioned");
  thrust::device_vector<int> even(6), odd(6);
  const auto parts = thrust::partition_copy(out.begin(), out.end(), even.begin(), odd.begin(), IsEven());
  check(parts.first - even.begin() == 3 && is(even, {2, 4, 6}) && is(odd, {1, 3, 5}), "partition_copy");
}

int main() {
  const thrust::device_vector<int> v(Ints{3, 1, 4, 1, 5, 9});
  scans(v);
  compactions(v);
  thrust::host_vector<int> h(Ints{1, 2, 3, 4, 5, 6});
  const auto end = thrust::partition(h.begin(), h.end(), IsEven());
  check(end - h.begin() == 3 && h[2] % 2 == 0 && h[3] % 2 == 1, "partition on the host");
  std::vector<int> scanned(6);
  thrust::exclusive_scan(h.begin(), h.end(), scanned.begin());
  check(scanned[5] == 21 - h[5], "exclusive_scan on the host");
  if (wrong == 0) std::printf("PASSED\n");
  return wrong != 0;
}
