// fp16 and bf16: conversions, arithmetic, comparisons and functions, against the nearest number that a search finds.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

bool right = true;
void fail(const char* what, double x, double y, double found, double expected) {
  if (right) std::printf("%s of %.9g, %.9g: %.9g instead of %.9g\n", what, x, y, found, expected);
  right = false;
}

template <class T>
struct Format;
template <>
struct Format<__half> {
  static constexpr int kMantissa = 10, kBias = 15;
  __host__ __device__ static __half of_bits(unsigned short bits) { return __ushort_as_half(bits); }
  __host__ __device__ static unsigned short bits_of(__half x) { return __half_as_ushort(x); }
  using Pair = __half2;
};
template <>
struct Format<__nv_bfloat16> {
  static constexpr int kMantissa = 7, kBias = 127;
  __host__ __device__ static __nv_bfloat16 of_bits(unsigned short bits) { return __ushort_as_bfloat16(bits); }
  __host__ __device__ static unsigned short bits_of(__nv_bfloat16 x) { return __bfloat16_as_ushort(x); }
  using Pair = __nv_bfloat162;
};

template <class T>
double value_of(unsigned short bits) {
  using F = Format<T>;
  const int exponent = (bits & 0x7fff) >> F::kMantissa, mantissa = bits & ((1 << F::kMantissa) - 1);
  const int most = (1 << (15 - F::kMantissa)) - 1;
  double size =
      std::ldexp(mantissa + (exponent ? 1 << F::kMantissa : 0), (exponent ? exponent : 1) - F::kBias - F::kMantissa);
  if (exponent == most) size = mantissa ? NAN : INFINITY;
  return bits & 0x8000 ? -size : size;
}

// The bits nearest to x; of two, those that end in 0.
template <class T>
unsigned short nearest(long double x) {
  static const std::vector<double> sizes = [] {
    std::vector<double> all;
    for (unsigned bits = 0; std::isfinite(value_of<T>(bits)); ++bits) all.push_back(value_of<T>(bits));
    all.push_back(2 * all.back() - all[all.size() - 2]);  // where the next number would be
    return all;
  }();
  if (x != x) return 0x7fff;
  const long double size = std::fabs(x);
  auto at = std::lower_bound(sizes.begin(), sizes.end(), size) - sizes.begin();
  if (at == static_cast<long>(sizes.size())) --at;
  if (at > 0 && size < sizes[at]) {
    const long double below = size - sizes[at - 1], above = sizes[at] - size;
    if (below < above || (below == above && at % 2 == 1)) --at;
  }
  return static_cast<unsigned short>(at | (std::signbit(x) ? 0x8000 : 0));
}

constexpr int kResults = 24;

template <class T>
__global__ void compute(const unsigned short* a, const unsigned short* b, const unsigned short* c,
                        unsigned short* results) {
  using F = Format<T>;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const T x = F::of_bits(a[i]), y = F::of_bits(b[i]), z = F::of_bits(c[i]);
  unsigned short* r = results + i * kResults;
  int n = 0;
  const auto put = [&](T value) { r[n++] = F::bits_of(value); };
  put(__hadd(x, y));
  put(x - y);
  put(__hmul(x, y));
  put(x / y);
  put(__hfma(x, y, z));
  put(__hmax(x, y));
  put(__hmin_nan(x, y));
  put(__hadd_sat(x, y));
  put(__hfma_relu(x, y, z));
  const typename F::Pair pair{x, y}, other{y, z};
  const typename F::Pair sum = __hadd2(pair, other), fused = __hfma2(pair, other, pair),
                         complex = __hcmadd(pair, other, pair);
  put(sum.x);
  put(sum.y);
  put(fused.x);
  put(complex.x);
  put(h2floor(pair).y);
  put(hrint(x));
  put(hsqrt(x));
  put(hrcp(x));
  put(hexp(x));
  r[n++] = (x < y) | (x == y) << 1 | (x != y) << 2 | __hne(x, y) << 3 | __hltu(x, y) << 4 | __hbge2(pair, other) << 5 |
           __hisnan(x) << 6 | (__hisinf(x) != 0) << 7;
  r[n++] = static_cast<unsigned short>(__hgt2_mask(pair, other) >> 16);
  put(-x);
  put(__habs(x));
}

template <class T>
void check_arithmetic() {
  constexpr int kThreads = 128, kBlocks = 8, kCount = kThreads * kBlocks;
  std::vector<unsigned short> host[3], found(kCount * kResults);
  unsigned short *device[3], *results;
  uint32_t state = 3;
  const unsigned short edges[] = {0,      0x8000, 1,      0x8001, 0x7c00, 0xfc00, 0x7fff,
                                  0x7f80, 0xff80, 0x3c00, 0x3f80, 0x7bff, 0x7f7f};
  for (int o = 0; o < 3; ++o) {
    host[o].resize(kCount);
    for (int i = 0; i < kCount; ++i) {
      state = state * 1664525 + 1013904223;
      host[o][i] = static_cast<unsigned short>(i < 169 ? edges[(o == 0   ? i
                                                                : o == 1 ? i / 13
                                                                         : i * 5) %
                                                               13]
                                               : i % 2 ? state >> 16
                                                       : 0x3c00 + (state >> 20));
    }
    cudaMalloc(&device[o], kCount * 2);
    cudaMemcpy(device[o], host[o].data(), kCount * 2, cudaMemcpyHostToDevice);
  }
  cudaMalloc(&results, found.size() * 2);
  compute<T><<<kBlocks, kThreads>>>(device[0], device[1], device[2], results);
  cudaMemcpy(found.data(), results, found.size() * 2, cudaMemcpyDeviceToHost);
  for (unsigned short* each : device) cudaFree(each);
  cudaFree(results);
  for (int i = 0; i < kCount; ++i) {
    const double x = value_of<T>(host[0][i]), y = value_of<T>(host[1][i]), z = value_of<T>(host[2][i]);
    const unsigned short* r = found.data() + i * kResults;
    int n = 0;
    // `ulps`: how far a function may be from the nearest number.
    const auto expect = [&](const char* what, long double exact, int ulps = 0) {
      const unsigned short bits = r[n++], best = nearest<T>(exact);
      const bool zero = exact == 0 && (bits & 0x7fff) == 0;  // of either sign
      const bool close = std::abs((bits & 0x7fff) - (best & 0x7fff)) <= ulps && (bits ^ best) < 0x8000;
      if (!(zero || close || (exact != exact && value_of<T>(bits) != value_of<T>(bits))))
        fail(what, x, y, value_of<T>(bits), double(exact));
    };
    const auto saturated = [](double v) { return v != v || v <= 0 ? 0 : v < 1 ? v : 1; };
    const auto relu = [](long double v) { return v < 0 ? 0 : v; };
    const auto fused = [](double a, double b, double c) { return static_cast<long double>(a * b) + c; };
    expect("__hadd", x + y);
    expect("-", x - y);
    expect("__hmul", x * y);
    expect("/", x / y);
    // The sum of an exact product and a small number may need more bits than long double has: then skip it.
    const bool known = !(std::fabs(x * y) > 0 && std::fabs(z) > 0) || std::abs(std::ilogb(x * y) - std::ilogb(z)) < 40;
    known ? expect("__hfma", fused(x, y, z)) : void(++n);
    expect("__hmax", x != x ? y : y != y ? x : std::max(x, y));
    expect("__hmin_nan", x != x || y != y ? NAN : std::min(x, y));
    expect("__hadd_sat", saturated(x + y));
    known ? expect("__hfma_relu", relu(fused(x, y, z))) : void(++n);
    expect("__hadd2", x + y);
    expect("__hadd2", y + z);
    const bool known2 = !(std::fabs(x * y) > 0 && std::fabs(x) > 0) || std::abs(std::ilogb(x * y) - std::ilogb(x)) < 40;
    known2 ? expect("__hfma2", fused(x, y, x)) : void(++n);
    const double first = value_of<T>(nearest<T>(fused(x, y, x)));
    const bool known3 = known2 && (!(std::fabs(y * z) > 0 && std::fabs(first) > 0) ||
                                   std::abs(std::ilogb(y * z) - std::ilogb(first)) < 40);
    known3 ? expect("__hcmadd", fused(-y, z, first)) : void(++n);
    expect("h2floor", std::floor(y));
    expect("hrint", std::nearbyint(x));
    expect("hsqrt", std::sqrt(x), 1);
    expect("hrcp", 1 / x, 1);
    expect("hexp", std::exp(x), 2);
    const unsigned short answers = (x < y) | (x == y) << 1 | (x != y) << 2 | (x < y || x > y) << 3 | !(x >= y) << 4 |
                                   (x >= y && y >= z) << 5 | (x != x) << 6 | (std::isinf(x) ? 1 : 0) << 7;
    if (r[n++] != answers) fail("comparisons", x, y, r[n - 1], answers);
    if (r[n++] != (y > z ? 0xffff : 0)) fail("__hgt2_mask", y, z, r[n - 1], y > z);
    expect("-", -x);
    expect("__habs", std::fabs(x));
  }
}

template <class T>
__global__ void count_wrong_conversions(const double* values, int* wrong) {
  const unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;
  const T x = Format<T>::of_bits(static_cast<unsigned short>(bits));
  const double value = values[bits];
  const bool is_nan = value != value;
  const T again = T(static_cast<float>(x));
  const bool same = is_nan ? again != again
                           : static_cast<double>(static_cast<float>(x)) == value && Format<T>::bits_of(again) == bits;
  const bool whole =
      is_nan || static_cast<int>(x) == 0 || fabs(value) >= 32768 || static_cast<int>(x) == static_cast<int>(value);
  if (!same || !whole) atomicAdd(wrong, 1);
}

template <class T>
void check_conversions() {
  std::vector<double> values(65536);
  for (unsigned bits = 0; bits < 65536; ++bits) values[bits] = value_of<T>(bits);
  double* device;
  int *wrong, count = 0;
  cudaMalloc(&device, values.size() * sizeof(double));
  cudaMalloc(&wrong, sizeof(int));
  cudaMemcpy(device, values.data(), values.size() * sizeof(double), cudaMemcpyHostToDevice);
  cudaMemset(wrong, 0, sizeof(int));
  count_wrong_conversions<T><<<256, 256>>>(device, wrong);
  cudaMemcpy(&count, wrong, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device);
  cudaFree(wrong);
  if (count != 0) fail("conversions", 0, 0, count, 0);
}

// On the host: conversions with rounding modes, and from integers and double, which round once.
void check_host() {
  uint32_t state = 11;
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525 + 1013904223;
    const float x = std::ldexp(static_cast<float>(static_cast<int>(state)), static_cast<int>(state >> 3 & 63) - 70);
    const auto check = [&](auto type, auto down, auto up, auto zero, auto from_float, auto from_double) {
      using T = decltype(type);
      const double d = float(down), u = float(up), z = float(zero);
      const unsigned short best = nearest<T>(x);
      if (!(d <= x && x <= u && z == (x < 0 ? u : d) &&
            (d == u || u == value_of<T>(nearest<T>(d) + (d < 0 || u == 0 ? -1 : 1)) || d < 0))) {
        fail("rounded", x, 0, d, u);
      }
      if (Format<T>::bits_of(from_float) != best) fail("from float", x, 0, float(from_float), value_of<T>(best));
      const double close = double(x) * (1 + 0x1p-45);
      if (Format<T>::bits_of(from_double) != nearest<T>(close))
        fail("from double", close, 0, float(from_double), value_of<T>(nearest<T>(close)));
    };
    const double close = double(x) * (1 + 0x1p-45);
    check(__half(), __float2half_rd(x), __float2half_ru(x), __float2half_rz(x), __float2half(x), __double2half(close));
    check(__nv_bfloat16(), __float2bfloat16_rd(x), __float2bfloat16_ru(x), __float2bfloat16_rz(x), __float2bfloat16(x),
          __double2bfloat16(close));
    const int whole = static_cast<int>(state >> (state & 31));
    const long long wide = static_cast<long long>(static_cast<uint64_t>(state) * state);
    if (__half_as_ushort(__int2half_rn(whole)) != nearest<__half>(whole))
      fail("__int2half_rn", whole, 0, float(__int2half_rn(whole)), whole);
    if (__bfloat16_as_ushort(__ll2bfloat16_rn(wide)) != nearest<__nv_bfloat16>(wide))
      fail("__ll2bfloat16_rn", wide, 0, 0, wide);
  }
  if (__half2short_rz(__float2half(1e9f)) != 32767 || __half2uchar_rz(__float2half(-3)) != 0)
    fail("to integers", 0, 0, 0, 0);
}

__global__ void to_integers(const float* values, long long* results) {
  const __half half_value = __float2half(values[threadIdx.x]);
  const __nv_bfloat16 brain = __float2bfloat16(values[threadIdx.x]);
  long long* r = results + threadIdx.x * 8;
  r[0] = __half2short_rn(half_value);
  r[1] = __half2ushort_rd(half_value);
  r[2] = __half2int_ru(half_value);
  r[3] = __half2ll_rz(half_value);
  r[4] = __bfloat162short_rn(brain);
  r[5] = __bfloat162uint_rd(brain);
  r[6] = __bfloat162int_ru(brain);
  r[7] = static_cast<long long>(__bfloat162ull_rz(brain));
}

void check_integers() {
  const float values[] = {-2.5f, 1.25f, 3.5f, -0.75f, 70000, -40000, 0};
  constexpr int kCount = 7;
  const double limits[8][2] = {{-32768, 32767}, {0, 65535},        {-2147483648.0, 2147483647}, {-1e18, 1e18},
                               {-32768, 32767}, {0, 4294967295.0}, {-2147483648.0, 2147483647}, {0, 1e18}};
  float* device;
  long long *results, found[kCount * 8];
  cudaMalloc(&device, sizeof(values));
  cudaMalloc(&results, sizeof(found));
  cudaMemcpy(device, values, sizeof(values), cudaMemcpyHostToDevice);
  to_integers<<<1, kCount>>>(device, results);
  cudaMemcpy(found, results, sizeof(found), cudaMemcpyDeviceToHost);
  cudaFree(device);
  cudaFree(results);
  for (int i = 0; i < kCount; ++i) {
    for (int n = 0; n < 8; ++n) {
      const double x = n < 4 ? value_of<__half>(nearest<__half>(values[i]))
                             : value_of<__nv_bfloat16>(nearest<__nv_bfloat16>(values[i]));
      const double whole = n % 4 == 0   ? std::nearbyint(x)
                           : n % 4 == 1 ? std::floor(x)
                           : n % 4 == 2 ? std::ceil(x)
                                        : std::trunc(x);
      const double expected = std::clamp(whole, limits[n][0], limits[n][1]);
      if (std::isfinite(x) && static_cast<double>(found[i * 8 + n]) != expected)
        fail("to an integer", x, n, double(found[i * 8 + n]), expected);
    }
  }
}

int main() {
  static_assert(
      sizeof(__half2) == 4 && alignof(__half2) == 4 && sizeof(__nv_bfloat162) == 4 && alignof(__nv_bfloat162) == 4, "");
  check_conversions<__half>();
  check_conversions<__nv_bfloat16>();
  check_arithmetic<__half>();
  check_arithmetic<__nv_bfloat16>();
  check_host();
  check_integers();
  if (right) std::puts("PASSED");
  return right ? 0 : 1;
}
