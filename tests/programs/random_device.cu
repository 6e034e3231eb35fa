// Compares cuRAND's generators in kernels with published values, with cuRAND's own, and with moments of distributions.
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                              \
  do {                                                                           \
    const cudaError_t error = (call);                                            \
    if (error != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

constexpr int kBits = 5, kPublished = 16;

// Values as published: Marsaglia's xorwow from the state in his paper, the known answers of Random123 for
// philox4x32-10, and the first values of L'Ecuyer's RngStreams for MRG32k3a, which divides by m + 1 and cuRAND by m.
__global__ void published(double* result) {
  curandStateXORWOW xorwow;
  curand_init(0, 0, 0, &xorwow);
  const unsigned start[] = {123456789, 362436069, 521288629, 88675123, 5783321};
  for (int i = 0; i < 5; ++i) xorwow.v[i] = start[i];
  xorwow.d = 6615241;
  for (int i = 0; i < 5; ++i) result[i] = curand(&xorwow);

  curandStatePhilox4_32_10_t philox;
  curand_init(0, 0, 0, &philox);
  for (int i = 0; i < 4; ++i) result[5 + i] = curand(&philox);
  // Counter and key are digits of pi. The offset is the lower half of the counter, times 4.
  curand_init(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88, &philox);
  for (int i = 0; i < 3; ++i) skipahead(0x85a308d3243f6a88, &philox);
  const uint4 four = curand4(&philox);
  result[9] = four.x;
  result[10] = four.y;
  result[11] = four.z;
  result[12] = four.w;

  curandStateMRG32k3a mrg;
  curand_init(0, 0, 0, &mrg);
  for (int i = 0; i < 3; ++i) result[13 + i] = curand_uniform_double(&mrg) * 4294967087 / 4294967088;
}

template <class State>
__global__ void sequences(unsigned* bits, double* reals) {
  State state;
  curand_init(1234, 0, 0, &state);
  for (int i = 0; i < kBits; ++i) bits[i] = curand(&state);
  curand_init(0x123456789abcdef, 987654321, 0x1122334455667787, &state);
  for (int i = 0; i < kBits; ++i) bits[kBits + i] = curand(&state);
  skipahead(1000003, &state);
  bits[2 * kBits] = curand(&state);
  curand_init(77, 3, 5, &state);
  reals[0] = curand_uniform(&state);
  reals[1] = curand_normal(&state);
  reals[2] = curand_normal(&state);
  const float2 pair = curand_normal2(&state);
  reals[3] = pair.x;
  reals[4] = pair.y;
  reals[5] = curand_uniform_double(&state);
  reals[6] = curand_normal_double(&state);
  reals[7] = curand_normal_double(&state);
  reals[8] = curand_log_normal(&state, 0.5f, 0.25f);
  reals[9] = curand_log_normal(&state, 9.0f, 0.25f);  // the pair's second value, with the first call's mean
  bits[2 * kBits + 1] = curand_poisson(&state, 3.5);
  bits[2 * kBits + 2] = curand_poisson(&state, 50.0);
  bits[2 * kBits + 3] = curand_poisson(&state, 5000.0);
}

__global__ void setup(curandState* states) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(42, i, 0, &states[i]);
}

__global__ void poisson(curandState* states, unsigned* counts, double mean, int each) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandState state = states[i];
  for (int k = 0; k < each; ++k) counts[i * each + k] = curand_poisson(&state, mean);
  states[i] = state;
}

int failures = 0;

void expect(const char* what, int at, double found, double expected, double tolerance) {
  const bool is_near = std::abs(found - expected) <= tolerance;
  if (!is_near && failures++ < 8) std::printf("%s, value %d: %.17g instead of %.17g\n", what, at, found, expected);
}

void test_published() {
  const double expected[kPublished] = {246875399,  3690007200,        1264581005,        3906711041,
                                       1866187943, 0x6627e8d5,        0xe169c58d,        0xbc57ac4c,
                                       0x9b00dbd8, 0xd16cfe09,        0x94fdcceb,        0x5001e420,
                                       0x24126ea1, 0.127011122046577, 0.318527565396757, 0.309186015583270};
  double *result, found[kPublished];
  CHECK(cudaMalloc(&result, sizeof(found)));
  published<<<1, 1>>>(result);
  CHECK(cudaMemcpy(found, result, sizeof(found), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kPublished; ++i) expect("published", i, found[i], expected[i], 1e-12);
  CHECK(cudaFree(result));
}

template <class State>
void test_sequence(const char* name, const std::vector<unsigned>& bits, const std::vector<double>& reals) {
  unsigned* device_bits;
  double* device_reals;
  std::vector<unsigned> found_bits(bits.size());
  std::vector<double> found_reals(reals.size());
  CHECK(cudaMalloc(&device_bits, bits.size() * sizeof(unsigned)));
  CHECK(cudaMalloc(&device_reals, reals.size() * sizeof(double)));
  sequences<State><<<1, 1>>>(device_bits, device_reals);
  CHECK(cudaMemcpy(found_bits.data(), device_bits, bits.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(found_reals.data(), device_reals, reals.size() * sizeof(double), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < bits.size(); ++i) expect(name, static_cast<int>(i), found_bits[i], bits[i], 0);
  for (size_t i = 0; i < reals.size(); ++i) expect(name, static_cast<int>(100 + i), found_reals[i], reals[i], 2e-6);
  CHECK(cudaFree(device_bits));
  CHECK(cudaFree(device_reals));
}

// Mean and variance of a Poisson variable are equal.
void test_poisson(double mean) {
  constexpr int kThreads = 256, kEach = 40, kCount = kThreads * kEach;
  curandState* states;
  unsigned* counts;
  CHECK(cudaMalloc(&states, kThreads * sizeof(curandState)));
  CHECK(cudaMalloc(&counts, kCount * sizeof(unsigned)));
  setup<<<2, kThreads / 2>>>(states);
  poisson<<<2, kThreads / 2>>>(states, counts, mean, kEach);
  std::vector<unsigned> found(kCount);
  CHECK(cudaMemcpy(found.data(), counts, kCount * sizeof(unsigned), cudaMemcpyDeviceToHost));
  double sum = 0, squares = 0;
  for (const unsigned each : found) {
    sum += each;
    squares += (each - mean) * (each - mean);
  }
  expect("poisson mean", static_cast<int>(mean), sum / kCount, mean, 5 * std::sqrt(mean / kCount));
  expect("poisson variance", static_cast<int>(mean), squares / kCount / mean, 1, 0.1);
  CHECK(cudaFree(states));
  CHECK(cudaFree(counts));
}

int main() {
  test_published();
  // Of cuRAND 10, CUDA 13.
  test_sequence<curandStateXORWOW>(
      "xorwow",
      {624778773u, 1867875844u, 3739671282u, 1954919316u, 3681184389u, 3080269689u, 529802065u, 1696822750u, 53571182u,
       3161827461u, 1156905378u, 1u, 51u, 5030u},
      {0.71310848f, -0.798439026f, -0.803307831f, 1.39040422f, -1.59202886f, 0.21498638557910205, -0.77294700313653919,
       0.91697095832810716, 2.36015296f, 1.3692404f});
  test_sequence<curandStatePhilox4_32_10_t>(
      "philox",
      {546353992u, 3665621163u, 1140953199u, 3419031310u, 2666454581u, 2642844645u, 403103157u, 1688687786u, 548536185u,
       1438343361u, 3103404924u, 1u, 54u, 5011u},
      {0.90109545f, -0.702823043f, 0.207159773f, 1.10447145f, 0.352448046f, 0.89747288497164845, -0.44151103807309,
       -0.40518027547070257, 1.4516598f, 1.35769296f});
  test_sequence<curandStateMRG32k3a>(
      "mrg32k3a",
      {3379073520u, 2521876100u, 213678209u, 1604391373u, 2253011095u, 62037709u, 2311389781u, 3940613026u, 488839956u,
       3933355210u, 655379001u, 3u, 57u, 4930u},
      {0.26758936f, -0.915334284f, -1.05843413f, -0.754830658f, 0.736546755f, 0.83505388268415393, -0.45344777288311805,
       -1.396186795559339, 1.51033044f, 1.99595785f});
  for (const double mean : {2.0, 100.0, 6000.0}) test_poisson(mean);
  std::printf("%s\n", failures == 0 ? "PASSED" : "FAILED");
  return failures == 0 ? 0 : 1;
}
