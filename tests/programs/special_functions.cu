// Mathematical functions that C++ lacks, against integrals, inverse functions and identities in double.
#include <cmath>
#include <cstdio>

constexpr double kPi = 3.14159265358979323846;
constexpr int kResults = 24;

__global__ void compute(double x, double y, double z, double* r, float* f) {
  int n = 0;
  const auto put = [&](double wide, float narrow) {
    r[n] = wide;
    f[n++] = narrow;
  };
  const float a = static_cast<float>(x), b = static_cast<float>(y), c = static_cast<float>(z);
  const double v[3] = {x, y, z};
  const float w[3] = {a, b, c};
  put(rsqrt(x), rsqrtf(a));
  put(rcbrt(x), rcbrtf(a));
  put(sinpi(x), sinpif(a));
  put(cospi(x), cospif(a));
  put(normcdf(x), normcdff(a));
  put(normcdfinv(y), normcdfinvf(b));
  put(erfinv(y), erfinvf(b));
  put(erfcinv(y), erfcinvf(b));
  put(erfcx(x), erfcxf(a));
  put(cyl_bessel_i0(x), cyl_bessel_i0f(a));
  put(cyl_bessel_i1(x), cyl_bessel_i1f(a));
  put(norm3d(x, y, z), norm3df(a, b, c));
  put(rnorm3d(x, y, z), rnorm3df(a, b, c));
  put(norm4d(x, y, z, x), norm4df(a, b, c, a));
  put(rnorm4d(x, y, z, x), rnorm4df(a, b, c, a));
  put(norm(3, v), normf(3, w));
  put(rnorm(3, v), rnormf(3, w));
  put(rhypot(x, y), rhypotf(a, b));
  double sine, cosine;
  float sine_f, cosine_f;
  sincospi(y, &sine, &cosine);
  sincospif(b, &sine_f, &cosine_f);
  put(sine, sine_f);
  put(cosine, cosine_f);
  put(exp10(y), exp10f(b));
  sincos(x, &sine, &cosine);
  sincosf(a, &sine_f, &cosine_f);
  put(sine, sine_f);
  put(fdivide(x, y), __fdividef(a, b));
  put(max(x, b), __saturatef(a));
}

// Simpson's rule.
template <class F>
double integral(double from, double to, F f) {
  constexpr int kSteps = 40000;
  const double step = (to - from) / kSteps;
  double sum = f(from) + f(to);
  for (int i = 1; i < kSteps; ++i) sum += (i % 2 ? 4 : 2) * f(from + i * step);
  return sum * step / 3;
}
double bessel(int order, double x) {
  return integral(0, kPi, [=](double t) { return std::exp(x * std::cos(t)) * std::cos(order * t); }) / kPi;
}
double scaled_erfc(double x) {
  return 2 / std::sqrt(kPi) * integral(0, 7, [=](double t) { return std::exp(-t * t - 2 * x * t); });
}

bool right = true;
void check(const char* name, double found, double expected, double tolerance) {
  if (std::fabs(found - expected) <= tolerance * (1 + std::fabs(expected))) return;
  std::printf("%s: %.15g instead of %.15g\n", name, found, expected);
  right = false;
}

int main() {
  double *device, r[kResults];
  float *device_f, f[kResults];
  cudaMalloc(&device, sizeof(r));
  cudaMalloc(&device_f, sizeof(f));
  const double cases[][3] = {
      {0.25, 0.125, 3}, {1.5, 0.5, -2}, {4.75, 0.8125, 0.5}, {11, 0.03125, 7}, {0.0625, 0.96875, 1}};
  for (const auto& point : cases) {
    const double x = point[0], y = point[1], z = point[2];
    compute<<<1, 1>>>(x, y, z, device, device_f);
    cudaMemcpy(r, device, sizeof(r), cudaMemcpyDeviceToHost);
    cudaMemcpy(f, device_f, sizeof(f), cudaMemcpyDeviceToHost);
    const double three = std::sqrt(x * x + y * y + z * z), four = std::sqrt(2 * x * x + y * y + z * z);
    const double expected[kResults] = {
        1 / std::sqrt(x),
        std::pow(x, -1 / 3.0),
        std::sin(kPi * x),
        std::cos(kPi * x),
        0.5 + integral(0, x, [](double t) { return std::exp(-t * t / 2) / std::sqrt(2 * kPi); }),
        r[5],
        r[6],
        r[7],
        scaled_erfc(x),
        bessel(0, x),
        bessel(1, x),
        three,
        1 / three,
        four,
        1 / four,
        three,
        1 / three,
        1 / std::sqrt(x * x + y * y),
        std::sin(kPi * y),
        std::cos(kPi * y),
        std::pow(10, y),
        std::sin(x),
        x / y,
        std::fmax(x, y)};
    for (int n = 0; n < kResults; ++n) {
      char name[32];
      std::snprintf(name, sizeof(name), "function %d of %g", n, x);
      check(name, r[n], expected[n], 1e-12);
      check(name, f[n], n == kResults - 1 ? std::fmin(x, 1) : expected[n], 2e-6);
    }
    check("normcdfinv", 0.5 * std::erfc(-r[5] / std::sqrt(2.0)), y, 1e-14);
    check("erfinv", std::erf(r[6]), y, 1e-14);
    check("erfcinv", std::erfc(r[7]), y, 1e-14);
  }
  cudaFree(device);
  cudaFree(device_f);
  if (right) std::puts("PASSED");
  return right ? 0 : 1;
}
