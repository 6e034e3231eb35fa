// expect: out-of-bounds write of global memory
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/system_error.h>

#include <cstdio>

int main() {
  try {
    thrust::device_vector<int> values(100, 1), copy;
    copy.reserve(50);
    thrust::copy(values.begin(), values.end(), copy.begin());
  } catch (const thrust::system_error& error) {
    std::printf("%s\n", error.what());
  }
}
