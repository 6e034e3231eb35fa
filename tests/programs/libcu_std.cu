// libcu++: cuda::std, cuda's integer functions, function objects, annotated pointers and <nv/target> in kernels.
#include <cuda/annotated_ptr>
#include <cuda/bit>
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/bitset>
#include <cuda/std/cassert>
#include <cuda/std/chrono>
#include <cuda/std/climits>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/concepts>
#include <cuda/std/cstdint>
#include <cuda/std/cstring>
#include <cuda/std/functional>
#include <cuda/std/initializer_list>
#include <cuda/std/iterator>
#include <cuda/std/limits>
#include <cuda/std/numbers>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/ratio>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda/std/variant>
#include <nv/target>

#include <cstdio>

namespace ctd = cuda::std;

__host__ __device__ int side() {
  NV_IF_ELSE_TARGET(NV_IS_HOST, (return 1;), (return 2;))
  return 0;
}
__host__ __device__ bool is_recent() {
  bool recent = false;
  NV_IF_TARGET(NV_PROVIDES_SM_70, (recent = true;))
  return recent;
}

template <class T>
__device__ T largest_of(ctd::span<const T> values) {
  T largest = ctd::numeric_limits<T>::lowest();
  for (const T& value : values)
    if (largest < value) largest = value;
  return largest;
}

__global__ void kernel(const float* in, float* out, int* wrong) {
  const auto check = [wrong](bool right, int line) {
    if (!right) *wrong = line;
  };
  ctd::array<int, 4> numbers{4, 2, 3, 1};
  check(numbers.size() == 4 && ctd::get<1>(numbers) == 2, __LINE__);
  const auto [quotient, rest] = ctd::make_tuple(7 / 2, 7 % 2);
  check(quotient == 3 && rest == 1, __LINE__);
  const ctd::pair<int, float> pair{1, 2.0f};
  ctd::optional<int> maybe;
  check(!maybe && maybe.value_or(5) == 5, __LINE__);
  maybe = pair.first;
  check(*maybe == 1, __LINE__);
  ctd::variant<int, float> either = 2.5f;
  check(ctd::holds_alternative<float>(either) && ctd::visit([](auto v) { return v > 2; }, either), __LINE__);
  const ctd::complex<float> turned = ctd::complex<float>(0, 1) * ctd::complex<float>(0, 1);
  check(turned.real() == -1 && turned.imag() == 0, __LINE__);
  check(ctd::popcount(0xf0u) == 4 && ctd::bit_cast<unsigned>(1.0f) == 0x3f800000u, __LINE__);
  check(ctd::bitset<8>(5).count() == 2, __LINE__);
  check(ctd::is_same_v<ctd::common_type_t<int, float>, float> && ctd::integral<ctd::uint8_t>, __LINE__);
  check(ctd::plus<>()(1, 2) == 3 && ctd::invoke(ctd::identity{}, 4) == 4, __LINE__);
  check(ctd::accumulate(numbers.begin(), numbers.end(), 0) == 10, __LINE__);
  check(ctd::abs(ctd::sin(ctd::numbers::pi_v<float>)) < 1e-6f, __LINE__);
  check(ctd::chrono::milliseconds(ctd::chrono::seconds(2)).count() == 2000, __LINE__);
  check(cuda::ceil_div(7, 2) == 4 && cuda::round_up(7, 4) == 8 && cuda::ilog2(1000) == 9, __LINE__);
  check(cuda::round_down(7, 4) == 4 && cuda::ilog10(1000) == 3, __LINE__);
  check(cuda::bit_reverse(1u) == 0x80000000u && cuda::bitmask<unsigned>(4, 4) == 0xf0u, __LINE__);
  check(cuda::maximum<>{}(3, 5) == 5, __LINE__);
  check(side() == 2 && is_recent(), __LINE__);
  cuda::annotated_ptr<const float, cuda::access_property::persisting> pointer(in);
  *out = largest_of(ctd::span<const float>(in, 8)) + pointer[2];
}

int main() {
  float *data, expected = 0;
  int* wrong;
  cudaMallocManaged(&data, 9 * sizeof(float));
  cudaMallocManaged(&wrong, sizeof(int));
  for (int i = 0; i < 8; ++i) data[i] = static_cast<float>(i * 3 % 8);
  *wrong = 0;
  expected = 7 + data[2];
  kernel<<<1, 1>>>(data, data + 8, wrong);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  if (side() != 1 || is_recent()) *wrong = __LINE__;
  if (data[8] != expected) *wrong = __LINE__;
  if (*wrong != 0) {
    std::printf("FAILED: line %d\n", *wrong);
    return 1;
  }
  cudaFree(data);
  cudaFree(wrong);
  std::printf("PASSED\n");
}
