// expect: wrong/thrust_functor_out_of_bounds.cu:11:3: error: out-of-bounds read of global memory
#include <thrust/device_vector.h>
#include <thrust/sequence.h>
#include <thrust/system_error.h>
#include <thrust/transform.h>

#include <cstdio>

struct Next {
  const int* values;
  __host__ __device__ int operator()(int i) const { return values[i + 1]; }  // the last one has no next
};

int main() {
  try {
    thrust::device_vector<int> numbers(100), next(100);
    thrust::sequence(numbers.begin(), numbers.end());
    thrust::transform(numbers.begin(), numbers.end(), next.begin(), Next{thrust::raw_pointer_cast(numbers.data())});
  } catch (const thrust::system_error& error) {
    std::printf("%s\n", error.what());
  }
}
