// Compares cuFFT's transforms with direct sums: all types, sizes that are not powers of two, one to three dimensions,
// batches, in place, and the advanced layout with strides.
#include <cufft.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    if (const int error = static_cast<int>(call); error != 0) {                \
      std::printf("%s:%d: %s returns %d\n", __FILE__, __LINE__, #call, error); \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

using Complex = std::complex<double>;
int failures = 0;

void expect(const char* what, int at, Complex found, Complex expected, double tolerance) {
  if (std::abs(found - expected) <= tolerance * (1 + std::abs(expected))) return;
  if (failures++ < 10) {
    std::printf("%s, element %d: %g%+gi instead of %g%+gi\n", what, at, found.real(), found.imag(), expected.real(),
                expected.imag());
  }
}

// The transform of one element, of up to three dimensions.
Complex transformed(const std::vector<Complex>& values, const int (&n)[3], int i, int j, int k, int direction) {
  Complex sum = 0;
  for (int x = 0; x < n[0]; ++x) {
    for (int y = 0; y < n[1]; ++y) {
      for (int z = 0; z < n[2]; ++z) {
        const double turns =
            static_cast<double>(i) * x / n[0] + static_cast<double>(j) * y / n[1] + static_cast<double>(k) * z / n[2];
        sum += values[(x * n[1] + y) * n[2] + z] * std::polar(1.0, direction * 2 * M_PI * turns);
      }
    }
  }
  return sum;
}

std::vector<Complex> test_values(int count) {
  std::vector<Complex> values(count);
  for (int i = 0; i < count; ++i) values[i] = {std::sin(i * 0.7) + 0.25, std::cos(i * 1.9)};
  return values;
}

template <class T>
T* to_device(const std::vector<T>& values) {
  T* device;
  CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}
template <class T>
std::vector<T> from_device(const T* device, size_t count) {
  std::vector<T> values(count);
  CHECK(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

// Complex data of one dimension, in batches, and there and back.
void test_complex(int n, int batch) {
  const std::vector<Complex> values = test_values(n * batch);
  cufftHandle plan;
  CHECK(cufftPlan1d(&plan, n, CUFFT_Z2Z, batch));
  cufftDoubleComplex* input = reinterpret_cast<cufftDoubleComplex*>(to_device(values));
  cufftDoubleComplex* output;
  CHECK(cudaMalloc(&output, n * batch * sizeof(Complex)));
  CHECK(cufftExecZ2Z(plan, input, output, CUFFT_FORWARD));
  const std::vector<cufftDoubleComplex> found = from_device(output, n * batch);
  for (int b = 0; b < batch; ++b) {
    const std::vector<Complex> one(values.begin() + b * n, values.begin() + (b + 1) * n);
    for (int i = 0; i < n; ++i) {
      const cufftDoubleComplex element = found[b * n + i];
      expect("Z2Z", b * n + i, {element.x, element.y}, transformed(one, {1, 1, n}, 0, 0, i, CUFFT_FORWARD), 1e-10);
    }
  }
  CHECK(cufftExecZ2Z(plan, output, output, CUFFT_INVERSE));
  const std::vector<cufftDoubleComplex> back = from_device(output, n * batch);
  for (int i = 0; i < n * batch; ++i)
    expect("Z2Z, back", i, Complex(back[i].x, back[i].y) / double(n), values[i], 1e-12);
  CHECK(cudaFree(input));
  CHECK(cudaFree(output));
  CHECK(cufftDestroy(plan));
}

// Real data of two dimensions, out of place and in place, where rows are padded; and back.
void test_real(int nx, int ny, bool in_place) {
  const int half = ny / 2 + 1, row = in_place ? 2 * half : ny;
  const std::vector<Complex> values = test_values(nx * ny);
  std::vector<Complex> real(nx * ny);
  std::vector<float> rows(nx * row);
  for (int i = 0; i < nx * ny; ++i) {
    rows[i / ny * row + i % ny] = static_cast<float>(values[i].real());
    real[i] = rows[i / ny * row + i % ny];
  }
  float* input = to_device(rows);
  cufftComplex* output = reinterpret_cast<cufftComplex*>(input);
  if (!in_place) CHECK(cudaMalloc(&output, nx * half * sizeof(cufftComplex)));
  cufftHandle forward, backward;
  CHECK(cufftPlan2d(&forward, nx, ny, CUFFT_R2C));
  CHECK(cufftPlan2d(&backward, nx, ny, CUFFT_C2R));
  CHECK(cufftExecR2C(forward, input, output));
  const std::vector<cufftComplex> found = from_device(output, nx * half);
  for (int i = 0; i < nx * half; ++i) {
    expect(in_place ? "R2C in place" : "R2C", i, {found[i].x, found[i].y},
           transformed(real, {1, nx, ny}, 0, i / half, i % half, CUFFT_FORWARD), 1e-4);
  }
  CHECK(cufftExecC2R(backward, output, input));
  const std::vector<float> back = from_device(input, rows.size());
  for (int i = 0; i < nx * ny; ++i) {
    expect(in_place ? "C2R in place" : "C2R", i, back[i / ny * row + i % ny] / (nx * ny), real[i], 1e-5);
  }
  CHECK(cudaFree(input));
  if (!in_place) CHECK(cudaFree(output));
  CHECK(cufftDestroy(forward));
  CHECK(cufftDestroy(backward));
}

void test_three_dimensions() {
  const std::vector<Complex> values = test_values(3 * 4 * 5);
  cufftHandle plan;
  size_t bytes = 0;
  CHECK(cufftCreate(&plan));
  CHECK(cufftSetAutoAllocation(plan, 0));
  CHECK(cufftMakePlan3d(plan, 3, 4, 5, CUFFT_Z2Z, &bytes));
  void* area;
  CHECK(cudaMalloc(&area, bytes));
  CHECK(cufftSetWorkArea(plan, area));
  cufftDoubleComplex* data = reinterpret_cast<cufftDoubleComplex*>(to_device(values));
  CHECK(cufftExecZ2Z(plan, data, data, CUFFT_INVERSE));
  const std::vector<cufftDoubleComplex> found = from_device(data, values.size());
  for (int i = 0; i < 60; ++i) {
    expect("three dimensions", i, {found[i].x, found[i].y},
           transformed(values, {3, 4, 5}, i / 20, i / 5 % 4, i % 5, CUFFT_INVERSE), 1e-10);
  }
  CHECK(cudaFree(data));
  CHECK(cudaFree(area));
  CHECK(cufftDestroy(plan));
}

// Transforms of 6 x 9 real elements that are 2 apart in rows of 11, to 6 x 5 elements that alternate with those of the
// other transform.
void test_advanced_layout() {
  int n[2] = {6, 9}, in_embed[2] = {7, 11}, out_embed[2] = {6, 5};
  const int batch = 2, in_distance = 7 * 11 * 2 + 3;
  std::vector<double> input(in_distance * batch);
  for (size_t i = 0; i < input.size(); ++i) input[i] = std::sin(i * 1.1);
  double* in = to_device(input);
  cufftDoubleComplex* out;
  CHECK(cudaMalloc(&out, 6 * 5 * batch * sizeof(cufftDoubleComplex)));
  cufftHandle plan;
  CHECK(cufftPlanMany(&plan, 2, n, in_embed, 2, in_distance, out_embed, batch, 1, CUFFT_D2Z, batch));
  CHECK(cufftExecD2Z(plan, in, out));
  const std::vector<cufftDoubleComplex> found = from_device(out, 6 * 5 * batch);
  for (int b = 0; b < batch; ++b) {
    std::vector<Complex> one;
    for (int i = 0; i < 6 * 9; ++i) one.push_back(input[b * in_distance + (i / 9 * 11 + i % 9) * 2]);
    for (int i = 0; i < 6 * 5; ++i) {
      const cufftDoubleComplex element = found[i * batch + b];
      expect("the advanced layout", i, {element.x, element.y},
             transformed(one, {1, 6, 9}, 0, i / 5, i % 5, CUFFT_FORWARD), 1e-10);
    }
  }
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cufftDestroy(plan));
}

int main() {
  for (const int n : {1, 2, 12, 15, 31, 64}) test_complex(n, 3);
  for (const bool in_place : {false, true}) {
    test_real(4, 6, in_place);
    test_real(3, 7, in_place);
    test_real(1, 15, in_place);
    test_real(5, 8, in_place);
  }
  test_three_dimensions();
  test_advanced_layout();
  if (failures == 0) std::printf("PASSED\n");
  return failures == 0 ? 0 : 1;
}
