// Arithmetic and conversions with rounding modes. The exact result is known in two parts, high + low, so that each
// rounded result must be the neighbor of the nearest number on the right side.
#include <cmath>
#include <cstdint>
#include <cstdio>

constexpr int kCases = 64;

struct FloatResults {
  float add[4], sub[4], mul[4], fma[4], div[4], rcp[4], sqrt[4], rsqrt;
};
struct DoubleResults {
  double add[4], mul[4], fma[4], div[4], rcp[4], sqrt[4];
};

#define ALL_MODES(to, name, ...)                                                                  \
  to[0] = name##_rn(__VA_ARGS__), to[1] = name##_rd(__VA_ARGS__), to[2] = name##_ru(__VA_ARGS__), \
  to[3] = name##_rz(__VA_ARGS__)

__global__ void in_float(const float* a, const float* b, const float* c, FloatResults* results) {
  const int i = threadIdx.x;
  const float x = a[i], y = b[i], z = c[i];
  FloatResults r;
  ALL_MODES(r.add, __fadd, x, y);
  ALL_MODES(r.sub, __fsub, x, y);
  ALL_MODES(r.mul, __fmul, x, y);
  ALL_MODES(r.fma, __fmaf, x, y, z);
  ALL_MODES(r.div, __fdiv, x, y);
  ALL_MODES(r.rcp, __frcp, x);
  ALL_MODES(r.sqrt, __fsqrt, fabsf(x));
  r.rsqrt = __frsqrt_rn(fabsf(x));
  results[i] = r;
}

__global__ void in_double(const float* a, const float* b, const float* c, DoubleResults* results) {
  const int i = threadIdx.x;
  const double x = a[i] / 3.0, y = b[i] / 7.0, z = c[i] / 11.0;
  DoubleResults r;
  ALL_MODES(r.add, __dadd, x, y);
  ALL_MODES(r.mul, __dmul, x, y);
  ALL_MODES(r.fma, __fma, x, y, z);
  ALL_MODES(r.div, __ddiv, x, y);
  ALL_MODES(r.rcp, __drcp, x);
  ALL_MODES(r.sqrt, __dsqrt, fabs(x));
  results[i] = r;
}

bool right = true;

// `side(r)`: the sign of exact - r, for any r.
template <class T, class Side>
void check(const char* name, const T (&r)[4], Side side) {
  const T down = r[1], up = r[2];
  const int at_nearest = side(r[0]);
  const bool exact = at_nearest == 0;
  const bool neighbors = exact ? down == up : up == std::nextafter(down, static_cast<T>(INFINITY));
  const bool encloses = side(down) >= 0 && side(up) <= 0;
  const T zero = down >= 0 ? down : up;
  if (neighbors && encloses && (r[0] == down || r[0] == up) && r[3] == zero) return;
  std::printf("%s: %.17g nearest, %.17g down, %.17g up, %.17g to zero\n", name, double(r[0]), double(down), double(up),
              double(r[3]));
  right = false;
}

int sign(long double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
// The sign of a + b + c, whose exact sum is kept in three parts.
int sign_of_three(double a, double b, double c) {
  const double sum = a + b, part = sum - a, rest = (a - (sum - part)) + (b - part);
  const double all = sum + c, last = all - sum, left = (sum - (all - last)) + (c - last);
  return sign(static_cast<long double>(all) + (static_cast<long double>(left) + rest));
}
// The sign of a * b + c for doubles, from parts that do not overlap.
int sign_of_sum(double a, double b, double c) {
  const double product = a * b, rest = std::fma(a, b, -product);
  const double sum = product + c, part = sum - product, error = (product - (sum - part)) + (c - part);
  return sign(static_cast<long double>(sum) + (static_cast<long double>(error) + rest));
}

template <class I, class F>
I clamped(F whole, I least, I most, I of_nan) {
  if (whole != whole) return of_nan;
  if (static_cast<long double>(whole) <= least) return least;
  return static_cast<long double>(whole) >= most ? most : static_cast<I>(whole);
}

struct Converted {
  int i[4], di[4];
  unsigned u[4];
  long long l[4], dl[4];
  unsigned long long ul[4], dul[4];
  float from_i[4], from_ull[4], from_d[4];
  double from_ll[4];
};

__global__ void convert(const double* a, Converted* results) {
  const double x = a[threadIdx.x];
  const float f = static_cast<float>(x);
  Converted r;
  ALL_MODES(r.i, __float2int, f);
  ALL_MODES(r.u, __float2uint, f);
  ALL_MODES(r.l, __float2ll, f);
  ALL_MODES(r.ul, __float2ull, f);
  ALL_MODES(r.di, __double2int, x);
  ALL_MODES(r.dl, __double2ll, x);
  ALL_MODES(r.dul, __double2ull, x);
  ALL_MODES(r.from_i, __int2float, __double2int_rz(x));
  ALL_MODES(r.from_ull, __ull2float, __double2ull_rz(x));
  ALL_MODES(r.from_d, __double2float, x);
  ALL_MODES(r.from_ll, __ll2double, __double2ll_rz(x) + 12345);
  results[threadIdx.x] = r;
}

template <class I, class F>
void check_integers(const char* name, const I (&found)[4], F x, I least, I most, I of_nan) {
  const F whole[4] = {std::nearbyint(x), std::floor(x), std::ceil(x), std::trunc(x)};
  for (int mode = 0; mode < 4; ++mode) {
    const I expected = clamped<I, F>(whole[mode], least, most, of_nan);
    if (found[mode] == expected) continue;
    std::printf("%s of %g, mode %d: %lld instead of %lld\n", name, double(x), mode, (long long)found[mode],
                (long long)expected);
    right = false;
  }
}

void check_conversions() {
  const double values[] = {0.5,          1.5,           -2.5,         2147483647.4,
                           2147483648.0, -2147483648.5, 4294967295.7, 16777217,
                           -16777219,    1e19,          -1e19,        9.3e18,
                           1e300,        -1e300,        1e-40,        -1.0000000596046448,
                           INFINITY,     NAN,           3e9,          123456789012345678.0};
  constexpr int kCount = sizeof(values) / sizeof(double);
  double* a;
  Converted *results, found[kCount];
  cudaMalloc(&a, sizeof(values));
  cudaMalloc(&results, sizeof(found));
  cudaMemcpy(a, values, sizeof(values), cudaMemcpyHostToDevice);
  convert<<<1, kCount>>>(a, results);
  cudaMemcpy(found, results, sizeof(found), cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(results);
  for (int i = 0; i < kCount; ++i) {
    const double x = values[i];
    const float f = static_cast<float>(x);
    const Converted& r = found[i];
    check_integers<int>("__float2int", r.i, f, INT32_MIN, INT32_MAX, 0);
    check_integers<unsigned>("__float2uint", r.u, f, 0, UINT32_MAX, 0);
    check_integers<long long>("__float2ll", r.l, f, INT64_MIN, INT64_MAX, INT64_MIN);
    check_integers<unsigned long long>("__float2ull", r.ul, f, 0, UINT64_MAX, 1ull << 63);
    check_integers<int>("__double2int", r.di, x, INT32_MIN, INT32_MAX, INT32_MIN);
    check_integers<long long>("__double2ll", r.dl, x, INT64_MIN, INT64_MAX, INT64_MIN);
    check_integers<unsigned long long>("__double2ull", r.dul, x, 0, UINT64_MAX, 1ull << 63);
    check("__int2float", r.from_i, [&](float y) { return sign(static_cast<long double>(r.di[3]) - y); });
    check("__ull2float", r.from_ull, [&](float y) { return sign(static_cast<long double>(r.dul[3]) - y); });
    if (std::isfinite(x))
      check("__double2float", r.from_d, [&](float y) { return sign(static_cast<long double>(x) - y); });
    check("__ll2double", r.from_ll, [&](double y) {
      return sign(static_cast<long double>(static_cast<long long>(static_cast<unsigned long long>(r.dl[3]) + 12345)) -
                  y);
    });
  }
}

int main() {
  float host[3][kCases], *device[3];
  uint32_t state = 7;
  for (auto& operand : host) {
    for (float& x : operand) {
      state = state * 1664525 + 1013904223;
      x = std::ldexp(static_cast<float>(static_cast<int>(state)), static_cast<int>(state >> 7 & 15) - 40);
    }
  }
  // Halfway cases, and products in the range of subnormal numbers.
  host[0][0] = 1, host[1][0] = std::ldexp(1.0f, -24), host[0][1] = std::ldexp(1.5f, -100),
  host[1][1] = std::ldexp(1.25f, -45);
  for (int i = 0; i < 3; ++i) {
    cudaMalloc(&device[i], sizeof(host[i]));
    cudaMemcpy(device[i], host[i], sizeof(host[i]), cudaMemcpyHostToDevice);
  }
  FloatResults *floats, f[kCases];
  DoubleResults *doubles, d[kCases];
  cudaMalloc(&floats, sizeof(f));
  cudaMalloc(&doubles, sizeof(d));
  in_float<<<1, kCases>>>(device[0], device[1], device[2], floats);
  in_double<<<1, kCases>>>(device[0], device[1], device[2], doubles);
  cudaMemcpy(f, floats, sizeof(f), cudaMemcpyDeviceToHost);
  cudaMemcpy(d, doubles, sizeof(d), cudaMemcpyDeviceToHost);
  for (float* each : device) cudaFree(each);
  cudaFree(floats);
  cudaFree(doubles);
  for (int i = 0; i < kCases; ++i) {
    const double x = host[0][i], y = host[1][i], z = host[2][i];
    check("__fadd", f[i].add, [&](float r) { return sign_of_three(x, y, -double(r)); });
    check("__fsub", f[i].sub, [&](float r) { return sign_of_three(x, -y, -double(r)); });
    check("__fmul", f[i].mul, [&](float r) { return sign(static_cast<long double>(x * y) - r); });
    check("__fmaf", f[i].fma, [&](float r) { return sign_of_three(x * y, z, -double(r)); });
    check("__fdiv", f[i].div, [&](float r) {
      return sign(static_cast<long double>(x) - static_cast<long double>(y) * r) * (y < 0 ? -1 : 1);
    });
    check("__frcp", f[i].rcp, [&](float r) { return sign(1 - static_cast<long double>(x) * r) * (x < 0 ? -1 : 1); });
    check("__fsqrt", f[i].sqrt,
          [&](float r) { return sign(static_cast<long double>(std::fabs(x)) - static_cast<long double>(r) * r); });
    const double error = 1 / std::sqrt(std::fabs(x)) - f[i].rsqrt;
    if (!(std::fabs(error) <= 0.5000001 * (std::nextafter(f[i].rsqrt, 1e30f) - double(f[i].rsqrt))))
      right = false, std::puts("__frsqrt_rn");
    const double a = host[0][i] / 3.0, b = host[1][i] / 7.0, c = host[2][i] / 11.0;
    check("__dadd", d[i].add, [&](double r) { return sign_of_three(a, b, -r); });
    check("__dmul", d[i].mul, [&](double r) { return sign_of_sum(a, b, -r); });
    check("__fma", d[i].fma, [&](double r) {
      const double product = a * b, low = std::fma(a, b, -product), sum = product + c, part = sum - product;
      const long double error = (product - (sum - part)) + (c - part);
      return sign((static_cast<long double>(sum) - r) + (error + low));
    });
    check("__ddiv", d[i].div, [&](double r) { return sign_of_sum(-r, b, a) * (b < 0 ? -1 : 1); });
    check("__drcp", d[i].rcp, [&](double r) { return sign_of_sum(-r, a, 1) * (a < 0 ? -1 : 1); });
    check("__dsqrt", d[i].sqrt, [&](double r) { return sign_of_sum(-r, r, std::fabs(a)); });
  }
  check_conversions();
  if (right) std::puts("PASSED");
  return right ? 0 : 1;
}
