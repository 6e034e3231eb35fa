// Thrust's iterators: counting, constant, transform, zip, permutation, reverse, transform_output, and adapted ones.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/iterator_adaptor.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/zip_function.h>

#include <cstdio>
#include <vector>

using Ints = std::vector<int>;
int wrong = 0;
void check(bool holds, const char* what) {
  if (!holds) std::printf("FAILED: %s\n", what), ++wrong;
}

struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};
/// Writes the third element of a tuple of references.
struct AddTuple {
  template <class Tuple>
  __host__ __device__ void operator()(Tuple t) const {
    thrust::get<2>(t) = thrust::get<0>(t) + 10 * thrust::get<1>(t);
  }
};
struct Dot {
  __host__ __device__ int operator()(const thrust::tuple<int, int>& t) const {
    return thrust::get<0>(t) * thrust::get<1>(t);
  }
};
struct Sum {
  __host__ __device__ int operator()(int a, int b) const { return a + b; }
};
struct Stride {
  int step;
  __host__ __device__ int operator()(int i) const { return step * i; }
};

/// Each element n times.
template <class Iterator>
class repeat_iterator : public thrust::iterator_adaptor<repeat_iterator<Iterator>, Iterator> {
 public:
  using super_t = thrust::iterator_adaptor<repeat_iterator<Iterator>, Iterator>;
  __host__ __device__ repeat_iterator(const Iterator& at, int n) : super_t(at), begin_(at), n_(n) {}
  friend class thrust::iterator_core_access;

 private:
  Iterator begin_;
  int n_;
  __host__ __device__ typename super_t::reference dereference() const {
    return *(begin_ + (this->base() - begin_) / n_);
  }
};

int main() {
  thrust::device_vector<int> a(Ints{1, 2, 3, 4}), b(Ints{5, 6, 7, 8}), out(4);
  auto squares = thrust::make_transform_iterator(a.begin(), Square());
  check(thrust::reduce(squares, squares + 4) == 30 && squares[3] == 16, "transform_iterator");
  auto counted = thrust::make_transform_iterator(thrust::make_counting_iterator(0), Square());
  check(thrust::reduce(counted, counted + 5) == 30, "transform_iterator of counting_iterator");
  check(thrust::reduce(thrust::make_constant_iterator(3), thrust::make_constant_iterator(3) + 4) == 12,
        "constant_iterator");

  auto first = thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin(), out.begin()));
  thrust::for_each(first, first + 4, AddTuple());
  check(out == Ints{51, 62, 73, 84}, "for_each of tuples");
  auto pairs = thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin()));
  check(thrust::transform_reduce(pairs, pairs + 4, Dot(), 0, thrust::plus<int>()) == 70, "transform_reduce of tuples");
  thrust::transform(pairs, pairs + 4, out.begin(), thrust::make_zip_function(Sum()));
  check(out == Ints{6, 8, 10, 12}, "zip_function");
  thrust::tuple<int, int> last = pairs[3];
  check(last == thrust::make_tuple(4, 8), "a tuple on the host");
  thrust::device_vector<int> c(4), d(4);
  thrust::copy(pairs, pairs + 4, thrust::make_zip_iterator(thrust::make_tuple(d.begin(), c.begin())));
  check(c == b && d == a, "copy of tuples");
  thrust::host_vector<thrust::tuple<int, int>> tuples(pairs, pairs + 4);
  check(thrust::get<1>(tuples[2]) == 7, "tuples to the host");

  const thrust::device_vector<int> order(Ints{3, 0, 2, 1});
  auto permuted = thrust::make_permutation_iterator(a.begin(), order.begin());
  thrust::copy(permuted, permuted + 4, out.begin());
  check(out == Ints{4, 1, 3, 2}, "reading a permutation");
  thrust::copy(a.begin(), a.end(), thrust::make_permutation_iterator(out.begin(), order.begin()));
  check(out == Ints{2, 4, 3, 1}, "writing a permutation");
  auto even = thrust::make_permutation_iterator(
      a.begin(), thrust::make_transform_iterator(thrust::counting_iterator<int>(0), Stride{2}));
  check(thrust::reduce(even, even + 2) == 4, "a strided range");

  thrust::inclusive_scan(thrust::make_reverse_iterator(a.end()), thrust::make_reverse_iterator(a.begin()), out.begin());
  check(out == Ints{4, 7, 9, 10}, "reverse_iterator");
  thrust::copy(a.rbegin(), a.rend(), out.begin());
  check(out == Ints{4, 3, 2, 1}, "rbegin and rend");
  thrust::copy(a.begin(), a.end(), thrust::make_transform_output_iterator(out.begin(), Square()));
  check(out == Ints{1, 4, 9, 16}, "transform_output_iterator");
  check(thrust::copy(a.begin(), a.end(), thrust::make_discard_iterator()) - thrust::make_discard_iterator() == 4,
        "discard_iterator");
  repeat_iterator<thrust::device_vector<int>::iterator> twice(a.begin(), 2);
  thrust::copy(twice, twice + 4, out.begin());
  check(out == Ints{1, 1, 2, 2}, "iterator_adaptor");
  if (wrong == 0) std::printf("PASSED\n");
  return wrong != 0;
}
