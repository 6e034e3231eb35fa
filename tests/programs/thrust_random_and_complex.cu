// Thrust's random engines, with the values that its documentation states, distributions, complex numbers, and shuffles.
#include <thrust/complex.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/pair.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/shuffle.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>

#include <cmath>
#include <cstdio>
#include <sstream>

int wrong = 0;
void check(bool holds, const char* what) {
  if (!holds) std::printf("FAILED: %s\n", what), ++wrong;
}

template <class Engine>
unsigned long long number_10000() {
  Engine engine;
  engine.discard(9999);
  return engine();
}

/// Whether a random point is in the unit circle.
struct InCircle {
  __host__ __device__ float operator()(unsigned i) const {
    thrust::default_random_engine engine(12345);
    engine.discard(2 * i);
    thrust::uniform_real_distribution<float> unit(0, 1);
    const float x = unit(engine), y = unit(engine);
    return x * x + y * y < 1 ? 4.0f : 0.0f;
  }
};
struct Normal {
  __host__ __device__ double operator()(unsigned i) const {
    thrust::minstd_rand engine;
    engine.discard(i);
    thrust::normal_distribution<double> normal(3, 2);
    return normal(engine);
  }
};

using Complex = thrust::complex<float>;
struct Rotate {
  __host__ __device__ Complex operator()(const Complex& z) const { return z * Complex(0, 1) + 1; }
};
__global__ void functions(thrust::complex<double>* z, thrust::pair<int, int> p, thrust::tuple<int, double> t) {
  z[0] = thrust::exp(thrust::complex<double>(0, M_PI)) + thrust::get<1>(t);
  z[1] = thrust::complex<double>(thrust::abs(thrust::complex<double>(3, 4)), p.second);
  z[2] = thrust::conj(z[1]) / thrust::complex<double>(0, 1);
  z[3] = thrust::sqrt(thrust::complex<double>(-4, 0));
}

int main() {
  check(number_10000<thrust::minstd_rand0>() == 1043618065, "minstd_rand0");
  check(number_10000<thrust::minstd_rand>() == 399268537, "minstd_rand");
  check(number_10000<thrust::taus88>() == 3535848941, "taus88");
  check(number_10000<thrust::ranlux24_base>() == 7937952, "ranlux24_base");
  check(number_10000<thrust::ranlux48_base>() == 192113843633948, "ranlux48_base");
  check(number_10000<thrust::ranlux24>() == 9901578, "ranlux24");
  check(number_10000<thrust::ranlux48>() == 88229545517833, "ranlux48");
  thrust::minstd_rand engine(12345);
  thrust::uniform_int_distribution<int> small(-5, 1000);
  thrust::uniform_real_distribution<float> real(2, 3);
  thrust::uniform_real_distribution<double> unit;
  check(std::fabs(unit(engine) - 0.27749011970822712) < 1e-15, "uniform_real_distribution of double");
  check(std::fabs(real(engine) - 2.72558475f) < 1e-6f, "uniform_real_distribution of float");
  check(small(engine) == 697, "uniform_int_distribution");

  constexpr int kCount = 10000;
  const thrust::counting_iterator<unsigned> first(0);
  const float pi = thrust::transform_reduce(first, first + kCount, InCircle(), 0.0f, thrust::plus<float>()) / kCount;
  check(std::fabs(pi - 3.14159f) < 0.05f, "random points on the device");
  const double mean = thrust::transform_reduce(first, first + kCount, Normal(), 0.0, thrust::plus<double>()) / kCount;
  check(std::fabs(mean - 3) < 0.1, "normal_distribution");

  thrust::device_vector<int> v(100);
  thrust::sequence(v.begin(), v.end());
  const thrust::device_vector<int> before = v;
  thrust::shuffle(v.begin(), v.end(), thrust::default_random_engine(5));
  check(!(v == before), "shuffle");
  thrust::sort(v.begin(), v.end());
  check(v == before, "elements of a shuffle");

  thrust::device_vector<Complex> z(10, Complex(1, 2));
  thrust::transform(z.begin(), z.end(), z.begin(), Rotate());
  const Complex rotated = z[9];
  check(rotated == Complex(-1, 1), "complex numbers on the device");
  const Complex sum = thrust::reduce(z.begin(), z.end(), Complex(0, 0), thrust::plus<Complex>());
  check(sum.real() == -10 && sum.imag() == 10 && thrust::norm(sum) == 200, "sum of complex numbers");
  thrust::device_vector<thrust::complex<double>> results(4);
  functions<<<1, 1>>>(thrust::raw_pointer_cast(results.data()), thrust::make_pair(1, 6), thrust::make_tuple(1, 2.5));
  const thrust::host_vector<thrust::complex<double>> r = results;
  check(std::fabs(r[0].real() - 1.5) < 1e-12 && std::fabs(r[0].imag()) < 1e-12, "exp, and a tuple as a parameter");
  check(r[1] == thrust::complex<double>(5, 6), "abs, and a pair as a parameter");
  check(thrust::abs(r[2] - thrust::complex<double>(-6, -5)) < 1e-12, "conj and division");
  check(thrust::abs(r[3] - thrust::complex<double>(0, 2)) < 1e-12, "sqrt");
  std::ostringstream text;
  text << thrust::polar(2.0f, 0.0f);
  check(text.str() == "(2,0)", "output");
  int a;
  double b;
  thrust::tie(a, b) = thrust::make_pair(3, 4.5);
  check(a == 3 && b == 4.5, "tie");
  if (wrong == 0) std::printf("PASSED\n");
  return wrong != 0;
}
