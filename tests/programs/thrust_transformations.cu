// Thrust's algorithms that compute each element by itself, with functors, lambdas, placeholders and raw pointers.
#include <thrust/adjacent_difference.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/generate.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/replace.h>
#include <thrust/reverse.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>

#include <cstdio>
#include <vector>

int wrong = 0;
void check(bool holds, const char* what) {
  if (!holds) std::printf("FAILED: %s\n", what), ++wrong;
}

struct Saxpy {
  float a;
  __host__ __device__ float operator()(const float& x, const float& y) const { return a * x + y; }
};
struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};
struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct Constant {
  __host__ __device__ int operator()() const { return 11; }
};
struct AddTo {
  int* sums;
  __device__ void operator()(int i) const { atomicAdd(&sums[i % 4], i); }
};

int main() {
  constexpr int kCount = 1000;
  using namespace thrust::placeholders;
  thrust::device_vector<float> x(kCount), y(kCount, 1.0f);
  thrust::sequence(x.begin(), x.end(), 0.0f, 0.5f);
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), Saxpy{2.0f});
  check(y[10] == 11.0f && y[999] == 1000.0f, "transform of two ranges");
  thrust::transform(y.begin(), y.end(), x.begin(), _1 * 2 + 1);
  check(x[10] == 23.0f, "placeholders");
  thrust::transform(thrust::device, x.begin(), x.end(), x.begin(), thrust::negate<float>());
  check(x[10] == -23.0f, "transform with a policy");

  thrust::device_vector<int> v(kCount), w(kCount);
  thrust::tabulate(v.begin(), v.end(), Square());
  check(v[31] == 961, "tabulate");
  thrust::transform_if(v.begin(), v.end(), w.begin(), thrust::negate<int>(), IsOdd());
  check(w[3] == -9 && w[4] == 0, "transform_if");
  thrust::replace_if(w.begin(), w.end(), IsOdd(), 5);
  check(w[3] == 5 && w[4] == 0, "replace_if");
  thrust::replace(w.begin(), w.end(), 5, 6);
  check(w[3] == 6, "replace");
  thrust::generate(w.begin(), w.begin() + 5, Constant());
  check(w[4] == 11 && w[5] == 6, "generate");
  thrust::fill_n(w.begin(), 3, 1);
  check(w[2] == 1 && w[3] == 11, "fill_n");

  int* const raw = thrust::raw_pointer_cast(w.data());
  thrust::sequence(thrust::device, raw, raw + kCount);
  thrust::reverse(thrust::device, raw, raw + kCount);
  check(w[0] == 999 && w[999] == 0, "reverse of raw pointers");
  thrust::device_vector<int> gathered(kCount), scattered(kCount);
  thrust::gather(w.begin(), w.end(), v.begin(), gathered.begin());
  check(gathered[0] == 999 * 999 && gathered[998] == 1, "gather");
  thrust::scatter(gathered.begin(), gathered.end(), w.begin(), scattered.begin());
  check(scattered == v, "scatter");
  thrust::adjacent_difference(v.begin(), v.end(), w.begin());
  check(w[0] == 0 && w[10] == 19, "adjacent_difference");

  thrust::device_vector<int> sums(4, 0);
  const AddTo add{thrust::raw_pointer_cast(sums.data())};
  thrust::for_each(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(100), add);
  thrust::for_each_n(thrust::device, thrust::counting_iterator<int>(0), 100, add);
  check(sums[0] == 2400 && sums[3] == 2550, "for_each with atomics");

  thrust::host_vector<int> host(10);
  thrust::sequence(host.begin(), host.end(), 1);
  thrust::transform(host.begin(), host.end(), host.begin(), Square());
  std::vector<int> plain(10);
  thrust::transform(thrust::host, host.begin(), host.end(), plain.begin(), thrust::negate<int>());
  check(host[9] == 100 && plain[9] == -100, "transform on the host");

  cudaStream_t stream;
  cudaStreamCreate(&stream);
  thrust::transform(thrust::cuda::par.on(stream), v.begin(), v.end(), w.begin(),
                    [] __host__ __device__(int i) { return i + 1; });
  cudaStreamSynchronize(stream);
  check(w[3] == 10, "a lambda in a stream");
  cudaStreamDestroy(stream);
  if (wrong == 0) std::printf("PASSED\n");
  return wrong != 0;
}
