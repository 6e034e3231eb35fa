// Compares arrays of cuRAND's host API with the values and the order of cuRAND 10 (CUDA 13).
#include <curand.h>

#include <cmath>
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

constexpr int kCount = 20000;

__global__ void sum(const float* values, float* total, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) atomicAdd(total, values[i]);
}

int failures = 0;

void expect(const char* what, int at, double found, double expected, double tolerance) {
  const bool is_near = std::abs(found - expected) <= tolerance;
  if (!is_near && failures++ < 8) std::printf("%s, value %d: %.17g instead of %.17g\n", what, at, found, expected);
}

curandGenerator_t generator_of(curandRngType_t type) {
  curandGenerator_t generator;
  CHECK(curandCreateGenerator(&generator, type));
  CHECK(curandSetPseudoRandomGeneratorSeed(generator, 1234));
  return generator;
}

struct Expected {
  const char* name;
  curandRngType_t type;
  unsigned bits[5], bits_at_4096;
  double real, doubles[2];
  double normals[4], normal_at_4096;
};

void test(const Expected& expected) {
  unsigned* device_bits;
  float* device_reals;
  double* device_doubles;
  CHECK(cudaMalloc(&device_bits, kCount * sizeof(unsigned)));
  CHECK(cudaMalloc(&device_reals, kCount * sizeof(float)));
  CHECK(cudaMalloc(&device_doubles, kCount * sizeof(double)));
  std::vector<unsigned> bits(kCount);
  std::vector<float> reals(kCount);
  std::vector<double> doubles(kCount);

  curandGenerator_t generator = generator_of(expected.type);
  CHECK(curandGenerate(generator, device_bits, kCount));
  CHECK(cudaMemcpy(bits.data(), device_bits, kCount * sizeof(unsigned), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 5; ++i) expect(expected.name, i, bits[i], expected.bits[i], 0);
  expect(expected.name, 4096, bits[4096], expected.bits_at_4096, 0);

  // Each of these continues the sequence, also after the seed was set; an offset starts in its middle.
  CHECK(curandSetGeneratorOffset(generator, 0));
  std::vector<unsigned> parts(kCount);
  CHECK(curandGenerate(generator, device_bits, 5));
  CHECK(curandSetPseudoRandomGeneratorSeed(generator, 1234));
  CHECK(curandGenerate(generator, device_bits + 5, 15));
  CHECK(curandSetGeneratorOffset(generator, 20));
  CHECK(curandGenerate(generator, device_bits + 20, kCount - 20));
  CHECK(cudaMemcpy(parts.data(), device_bits, kCount * sizeof(unsigned), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) expect("parts", i, parts[i], bits[i], 0);

  CHECK(curandSetGeneratorOffset(generator, 0));
  CHECK(curandGenerateUniform(generator, device_reals, kCount));
  CHECK(cudaMemcpy(reals.data(), device_reals, kCount * sizeof(float), cudaMemcpyDeviceToHost));
  expect("uniform", 0, reals[0], expected.real, 1e-7);

  CHECK(curandSetGeneratorOffset(generator, 0));
  CHECK(curandGenerateUniformDouble(generator, device_doubles, kCount));
  CHECK(cudaMemcpy(doubles.data(), device_doubles, kCount * sizeof(double), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 2; ++i) expect("uniform double", i, doubles[i], expected.doubles[i], 1e-15);

  CHECK(curandSetGeneratorOffset(generator, 0));
  CHECK(curandGenerateNormal(generator, device_reals, kCount, 0.0f, 1.0f));
  CHECK(cudaMemcpy(reals.data(), device_reals, kCount * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; ++i) expect("normal", i, reals[i], expected.normals[i], 1e-5);
  expect("normal", 4096, reals[4096], expected.normal_at_4096, 1e-5);

  // A kernel may read what was generated.
  float *total, found = 0;
  CHECK(cudaMalloc(&total, sizeof(float)));
  CHECK(cudaMemset(total, 0, sizeof(float)));
  sum<<<1, 64>>>(device_reals, total, kCount);
  CHECK(cudaMemcpy(&found, total, sizeof(float), cudaMemcpyDeviceToHost));
  expect("mean", 0, found / kCount, 0, 0.04);
  CHECK(cudaFree(total));
  CHECK(curandDestroyGenerator(generator));
  CHECK(cudaFree(device_bits));
  CHECK(cudaFree(device_reals));
  CHECK(cudaFree(device_doubles));
}

int main() {
  test({"xorwow",
        CURAND_RNG_PSEUDO_XORWOW,
        {624778773u, 3522650202u, 2363946744u, 1266286439u, 3928747533u},
        1867875844u,
        0.145467639,
        {0.43489880438841294, 0.92641692020243771},
        {0.780973554, -1.80157816, -0.280848563, 0.563546598},
        1.93902695});
  test({"mrg32k3a",
        CURAND_RNG_PSEUDO_MRG32K3A,
        {3379073520u, 653317650u, 4012281984u, 4237272334u, 4243547925u},
        2648318237u,
        0.786751866,
        {0.78675186271572939, 0.15211236914421553},
        {-0.360653788, -0.591281295, -1.7185365, -0.901611984},
        0.0452207141});
  test({"philox",
        CURAND_RNG_PSEUDO_PHILOX4_32_10,
        {546353992u, 3665621163u, 1140953199u, 3419031310u, 3507855656u},
        2053518784u,
        0.12720795,
        {0.85346899543001431, 0.79605514883270523},
        {-1.61649048, 1.22915542, -1.56054044, 0.464621365},
        1.18662775});
  curandGenerator_t generator;
  if (curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10) != CURAND_STATUS_SUCCESS) ++failures;
  unsigned first = 0;
  CHECK(curandGenerate(generator, &first, 1));
  expect("host generator", 0, first, 0x6627e8d5, 0);  // Random123's known answer for key 0
  CHECK(curandDestroyGenerator(generator));
  std::printf("%s\n", failures == 0 ? "PASSED" : "FAILED");
  return failures == 0 ? 0 : 1;
}
