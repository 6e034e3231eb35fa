// Thrust's sorts, on the device, on the host and inside a kernel, binary searches, merges and set operations.
#include <thrust/binary_search.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/merge.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/tuple.h>

#include <algorithm>
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

struct ByLastDigit {
  __host__ __device__ bool operator()(int a, int b) const { return a % 10 < b % 10; }
};

__global__ void sort_rows(int* rows, int* numbers, int columns) {
  int* const row = rows + threadIdx.x * columns;
  int* const number = numbers + threadIdx.x * columns;
  thrust::sequence(thrust::seq, number, number + columns);
  thrust::sort_by_key(thrust::seq, row, row + columns, number);
}

void sorts() {
  constexpr int kCount = 5000;
  Ints values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = (i * 7919 + 13) % 5003;
  Ints up = values;
  std::sort(up.begin(), up.end());
  thrust::device_vector<int> v = values;
  thrust::sort(v.begin(), v.end());
  check(v == up, "sort");
  thrust::sort(v.begin(), v.end(), thrust::greater<int>());
  check(v == Ints(up.rbegin(), up.rend()), "sort by greater");
  v = values;
  Ints by_digit = values;
  std::stable_sort(by_digit.begin(), by_digit.end(), ByLastDigit());
  int* const raw = thrust::raw_pointer_cast(v.data());
  thrust::stable_sort(thrust::device, raw, raw + kCount, ByLastDigit());
  check(v == by_digit, "stable_sort by a functor");
  v = values;
  thrust::device_vector<int> numbers(kCount);
  thrust::sequence(numbers.begin(), numbers.end());
  thrust::sort_by_key(v.begin(), v.end(), numbers.begin());
  check(v == up && values[numbers[100]] == up[100] && values[numbers[4999]] == up[4999], "sort_by_key");
  thrust::device_vector<float> floats(Ints{3, -1, 2, 0, -7});
  thrust::sort(floats.begin(), floats.end());
  check(floats[0] == -7 && floats[4] == 3, "sort of floats");
  thrust::device_vector<int> a(Ints{2, 1, 2, 1}), b(Ints{5, 9, 4, 3});
  const auto first = thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin()));
  thrust::sort(first, first + 4);
  check(is(a, {1, 1, 2, 2}) && is(b, {3, 9, 4, 5}), "sort of tuples");
  thrust::host_vector<int> host = values;
  thrust::sort(host.begin(), host.end());
  check(host == up, "sort on the host");

  constexpr int kRows = 4, kColumns = 9;
  thrust::device_vector<int> rows(values.begin(), values.begin() + kRows * kColumns), order(kRows * kColumns);
  sort_rows<<<1, kRows>>>(thrust::raw_pointer_cast(rows.data()), thrust::raw_pointer_cast(order.data()), kColumns);
  for (int row = 0; row < kRows; ++row) {
    Ints expected(values.begin() + row * kColumns, values.begin() + (row + 1) * kColumns);
    check(values[row * kColumns + order[row * kColumns]] == *std::min_element(expected.begin(), expected.end()),
          "values of a sort inside a kernel");
    std::sort(expected.begin(), expected.end());
    check(std::equal(expected.begin(), expected.end(), rows.begin() + row * kColumns), "sort inside a kernel");
  }
}

void searches() {
  const thrust::device_vector<int> v(Ints{1, 3, 3, 5, 8});
  check(thrust::lower_bound(v.begin(), v.end(), 3) - v.begin() == 1, "lower_bound");
  check(thrust::upper_bound(v.begin(), v.end(), 3) - v.begin() == 3, "upper_bound");
  check(thrust::binary_search(v.begin(), v.end(), 5) && !thrust::binary_search(v.begin(), v.end(), 4), "binary_search");
  const auto range = thrust::equal_range(v.begin(), v.end(), 3);
  check(range.second - range.first == 2, "equal_range");
  const thrust::device_vector<int> values(Ints{0, 3, 4, 9});
  thrust::device_vector<int> out(4);
  thrust::lower_bound(v.begin(), v.end(), values.begin(), values.end(), out.begin());
  check(is(out, {0, 1, 3, 5}), "lower_bound of many");
  thrust::upper_bound(v.begin(), v.end(), thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(4),
                      out.begin());
  check(is(out, {0, 1, 1, 3}), "upper_bound of many");
}

void merges() {
  const thrust::device_vector<int> a(Ints{1, 3, 3, 6}), b(Ints{2, 3, 7});
  thrust::device_vector<int> out(7), out_values(7);
  auto end = thrust::merge(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  check(end == out.end() && is(out, {1, 2, 3, 3, 3, 6, 7}), "merge");
  const thrust::device_vector<int> a_values(Ints{10, 11, 12, 13}), b_values(Ints{20, 21, 22});
  thrust::merge_by_key(a.begin(), a.end(), b.begin(), b.end(), a_values.begin(), b_values.begin(), out.begin(),
                       out_values.begin());
  check(is(out_values, {10, 20, 11, 12, 21, 13, 22}), "merge_by_key");
  end = thrust::set_union(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  check(end - out.begin() == 6 && is(out, {1, 2, 3, 3, 6, 7}), "set_union");
  end = thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  check(end - out.begin() == 1 && out[0] == 3, "set_intersection");
  end = thrust::set_difference(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  check(end - out.begin() == 3 && is(out, {1, 3, 6}), "set_difference");
  end = thrust::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  check(end - out.begin() == 5 && is(out, {1, 2, 3, 6, 7}), "set_symmetric_difference");
}

int main() {
  sorts();
  searches();
  merges();
  if (wrong == 0) std::printf("PASSED\n");
  return wrong != 0;
}
