// Kernels with parameters of classes that have their own copy constructor: the host runs it, and each thread gets
// bytes.
#include <cstdio>
#include <utility>

/// Counts its objects.
class Counted {
 public:
  explicit Counted(int* numbers) : numbers_(numbers) { ++alive; }
  Counted(const Counted& other) : numbers_(other.numbers_), is_copy_(true) { ++alive; }
  ~Counted() { --alive; }
  __device__ int take() { return *numbers_++; }
  __device__ bool is_copy() const { return is_copy_; }

  static int alive;

 private:
  int* numbers_;
  bool is_copy_ = false;
};
int Counted::alive = 0;

__global__ void sums(int scale, Counted numbers, std::pair<int, float> added, int* sum) {
  int own = numbers.take();
  own += numbers.take();
  sum[threadIdx.x] = numbers.is_copy() ? scale * own + added.first + int(added.second) : -1;
}

template <class Numbers>
__global__ void first(Numbers numbers, int* result) {
  *result = numbers.take();
}

int main() {
  int host[32] = {4, 5}, *numbers, *sum;
  cudaMalloc(&numbers, sizeof(host));
  cudaMalloc(&sum, sizeof(host));
  cudaMemcpy(numbers, host, sizeof(host), cudaMemcpyHostToDevice);
  {
    const Counted counted(numbers);
    sums<<<1, 32>>>(10, counted, std::make_pair(2, 3.5f), sum);
    cudaMemcpy(host, sum, sizeof(host), cudaMemcpyDeviceToHost);
    first<<<1, 1>>>(counted, sum);
    if (Counted::alive != 1) return std::printf("%d objects instead of 1\n", Counted::alive), 1;
  }
  int four = 0;
  cudaMemcpy(&four, sum, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(numbers);
  cudaFree(sum);
  for (const int each : host) {
    if (each != 95) return std::printf("%d instead of 95\n", each), 1;
  }
  if (four != 4) return std::printf("%d instead of 4\n", four), 1;
  std::printf("PASSED\n");
  return 0;
}
