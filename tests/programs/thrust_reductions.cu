// Thrust's algorithms that return one value: reductions, counts, extrema, searches for an element, comparisons.
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/equal.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/find.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/logical.h>
#include <thrust/mismatch.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

#include <cmath>
#include <cstdio>

int wrong = 0;
void check(bool holds, const char* what) {
  if (!holds) std::printf("FAILED: %s\n", what), ++wrong;
}

struct Square {
  __host__ __device__ double operator()(double x) const { return x * x; }
};
struct IsNegative {
  __host__ __device__ bool operator()(int x) const { return x < 0; }
};
/// One point of a quadrature of 4 / (1 + x^2) from 0 to 1.
struct Quadrature {
  int points;
  __host__ __device__ double operator()(int i) const {
    const double x = (i + 0.5) / points;
    return 4 / (1 + x * x) / points;
  }
};
/// Mean and variance of parts of the data.
struct Moments {
  double n, mean, m2;
};
struct OfOne {
  __host__ __device__ Moments operator()(int x) const { return {1.0, static_cast<double>(x), 0.0}; }
};
struct Combine {
  __host__ __device__ Moments operator()(const Moments& a, const Moments& b) const {
    const double n = a.n + b.n, delta = b.mean - a.mean;
    if (n == 0) return a;
    return {n, a.mean + delta * b.n / n, a.m2 + b.m2 + delta * delta * a.n * b.n / n};
  }
};

int main() {
  constexpr int kCount = 5000;
  thrust::device_vector<int> v(kCount);
  thrust::sequence(v.begin(), v.end(), -100);
  check(thrust::reduce(v.begin(), v.end()) == 11997500, "reduce");
  check(thrust::reduce(v.begin(), v.end(), 1LL) == 11997501, "reduce with an initial value");
  check(thrust::reduce(v.begin(), v.end(), -1000, thrust::maximum<int>()) == 4899, "reduce with maximum");
  check(thrust::reduce(thrust::device, thrust::raw_pointer_cast(v.data()), thrust::raw_pointer_cast(v.data()) + 3) ==
            -297,
        "reduce of raw pointers");
  check(thrust::transform_reduce(v.begin(), v.begin() + 3, Square(), 0.0, thrust::plus<double>()) == 29405,
        "transform_reduce");
  constexpr int kPoints = 20000;
  const double pi = thrust::transform_reduce(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(kPoints),
                                             Quadrature{kPoints}, 0.0, thrust::plus<double>());
  check(std::fabs(pi - M_PI) < 1e-8, "transform_reduce without memory");
  const Moments m = thrust::transform_reduce(v.begin(), v.end(), OfOne(), Moments{0, 0, 0}, Combine());
  check(std::fabs(m.mean - 2399.5) < 1e-6 && std::fabs(m.m2 / m.n - 2083333.25) < 1e-3, "reduction of structures");
  check(thrust::inner_product(v.begin(), v.end(), v.begin(), 0.0) == 39204667500.0, "inner_product");
  check(thrust::inner_product(v.begin(), v.end() - 1, v.begin() + 1, 0, thrust::plus<int>(), thrust::less<int>()) ==
            kCount - 1,
        "inner_product with operators");

  check(thrust::count(v.begin(), v.end(), 7) == 1, "count");
  check(thrust::count_if(v.begin(), v.end(), IsNegative()) == 100, "count_if");
  check(thrust::max_element(v.begin(), v.end()) - v.begin() == kCount - 1, "max_element");
  check(*thrust::min_element(v.begin(), v.end()) == -100, "min_element");
  v[3000] = 50000;
  v[4000] = -50000;
  const auto both = thrust::minmax_element(v.begin(), v.end());
  check(both.first - v.begin() == 4000 && both.second - v.begin() == 3000, "minmax_element");
  check(thrust::min_element(v.begin(), v.end(), thrust::greater<int>()) - v.begin() == 3000, "min_element by greater");

  check(thrust::find(v.begin(), v.end(), 0) - v.begin() == 100, "find");
  check(thrust::find(v.begin(), v.end(), 60000) == v.end(), "find of nothing");
  check(thrust::find_if_not(v.begin(), v.end(), IsNegative()) - v.begin() == 100, "find_if_not");
  check(thrust::any_of(v.begin(), v.end(), IsNegative()) && !thrust::all_of(v.begin(), v.end(), IsNegative()),
        "any_of, all_of");
  check(thrust::none_of(v.begin() + 100, v.begin() + 200, IsNegative()), "none_of");
  thrust::device_vector<int> w = v;
  check(thrust::equal(v.begin(), v.end(), w.begin()), "equal");
  w[77] = 1;
  check(thrust::mismatch(v.begin(), v.end(), w.begin()).first - v.begin() == 77, "mismatch");
  check(!thrust::is_sorted(v.begin(), v.end()) && thrust::is_sorted(v.begin(), v.begin() + 3000), "is_sorted");
  check(thrust::is_sorted_until(v.begin(), v.end()) - v.begin() == 3001, "is_sorted_until");
  if (wrong == 0) std::printf("PASSED\n");
  return wrong != 0;
}
