// Thrust's vectors: construction, element access from the host, growth, copies between host and device, kernels.
#include <thrust/copy.h>
#include <thrust/device_free.h>
#include <thrust/device_malloc.h>
#include <thrust/device_vector.h>
#include <thrust/fill.h>
#include <thrust/host_vector.h>
#include <thrust/sequence.h>
#include <thrust/universal_vector.h>

#include <cstdio>
#include <iterator>
#include <list>
#include <sstream>
#include <string>
#include <vector>

int wrong = 0;
void check(bool holds, const char* what) {
  if (!holds) std::printf("FAILED: %s\n", what), ++wrong;
}

__global__ void twice(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= 2;
}

void growth() {
  thrust::device_vector<int> v(3, 7);
  v.push_back(8);
  v.insert(v.begin() + 1, 5);
  v.erase(v.begin());
  check(v == std::vector<int>({5, 7, 7, 8}), "push_back, insert, erase");
  v.resize(6, 1);
  v.pop_back();
  check(v.size() == 5 && v.back() == 1 && v.front() == 5, "resize");
  v[2] = 40;
  v[2] += 2;
  const int element = v[2];
  check(element == 42 && *(v.begin() + 2) == 42, "elements");
  v[0] = v[2];
  check(v[0] == 42, "assignment of elements");
  const thrust::device_vector<int> same = v, range(v.begin() + 1, v.end());
  check(same == v && range.size() == 4 && range[0] == 7, "copies");
  v.assign(2, 9);
  v.shrink_to_fit();
  check(v.capacity() == 2 && v == thrust::host_vector<int>(2, 9), "assign");
  v.clear();
  check(v.empty(), "clear");
}

void host_and_device() {
  thrust::host_vector<float> h(1000);
  for (int i = 0; i < 1000; ++i) h[i] = i * 0.5f;
  thrust::device_vector<float> d = h;
  thrust::host_vector<float> back = d;
  check(back == h, "host to device and back");
  std::list<int> list{1, 2, 3};
  thrust::device_vector<int> of_list(list.begin(), list.end());
  std::ostringstream text;
  thrust::copy(of_list.begin(), of_list.end(), std::ostream_iterator<int>(text, ","));
  check(text.str() == "1,2,3,", "copy to a stream");
  thrust::device_vector<double> wide(of_list);
  check(wide[2] == 3.0, "conversion");
  thrust::host_vector<bool> flags(3, true);
  flags[1] = false;
  thrust::device_vector<bool> device_flags = flags;
  check(device_flags[0] && !device_flags[1], "bool");
  thrust::host_vector<std::string> words(2, "word");
  check(words[1] == "word", "strings on the host");
}

int main() {
  growth();
  host_and_device();

  thrust::device_vector<int> v(300);
  thrust::sequence(v.begin(), v.end());
  twice<<<2, 256>>>(thrust::raw_pointer_cast(v.data()), 300);
  check(v[299] == 598, "a kernel writes a device_vector");
  twice<<<2, 256>>>(thrust::raw_pointer_cast(&v[100]), 200);
  check(v[99] == 198 && v[100] == 400, "the address of an element");

  thrust::universal_vector<int> u(10, 3);
  twice<<<1, 10>>>(thrust::raw_pointer_cast(u.data()), 10);
  cudaDeviceSynchronize();
  check(u[9] == 6, "universal_vector");

  thrust::device_ptr<int> memory = thrust::device_malloc<int>(10);
  thrust::fill(memory, memory + 10, 4);
  int raw[10];
  cudaMemcpy(raw, memory.get(), sizeof(raw), cudaMemcpyDeviceToHost);
  check(raw[9] == 4 && memory[0] == 4, "device_malloc");
  thrust::device_free(memory);
  if (wrong == 0) std::printf("PASSED\n");
  return wrong != 0;
}
