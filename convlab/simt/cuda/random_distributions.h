#pragma once

#include <cmath>
#include <cstdint>

#include "convlab/simt/cuda/random_states.h"

/// The distributions of curand_kernel.h. Each uses the same random bits as cuRAND and the same formulas, so that values
/// differ from a GPU's only where its logarithm, sine and cosine are less accurate. The exception is curand_poisson()
/// with a mean of 64 to 4000: cuRAND's method is not documented, and this one has the same distribution but other
/// values.
namespace convlab::simt::cuda {
namespace runtime {

inline constexpr float kUniformStep = 2.3283064e-10f;                 // 2^-32
inline constexpr double kUniformDoubleStep = 1.1102230246251565e-16;  // 2^-53
inline constexpr double kMrgStep = 2.3283065498378288e-10;            // 1 / 4294967087
inline constexpr int kNormal = 1, kLogNormal = 2;                     // what a state's boxmuller_extra is

constexpr float uniform_of(unsigned bits) { return static_cast<float>(bits) * kUniformStep + kUniformStep / 2; }
/// 53 bits. The values are in (0, 1].
constexpr double uniform_of(unsigned low, unsigned high) {
  const uint64_t bits = low ^ static_cast<uint64_t>(high) << 21;
  return static_cast<double>(bits) * kUniformDoubleStep + kUniformDoubleStep / 2;
}

/// Box-Muller: the angle is v.
inline float2 normals_of(float u, float v) {
  const float radius = std::sqrt(-2.0f * std::log(u));
  return {std::sin(v) * radius, std::cos(v) * radius};
}
/// The angle is pi times v.
inline double2 normals_of(double u, double v) {
  const double radius = std::sqrt(-2.0 * std::log(u)), angle = v * 3.14159265358979323846;
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}
inline float2 normals_of(unsigned x, unsigned y) {
  constexpr float kStep = kUniformStep * 6.2831855f;
  return normals_of(uniform_of(x), static_cast<float>(y) * kStep + kStep / 2);
}

/// Returns the number of events at which the distribution function of a Poisson variable passes u in (0, 1].
unsigned poisson_at(double u, double mean) noexcept;

}  // namespace runtime

// ---- Uniform, in (0, 1] ----

template <runtime::CurandState State>
[[gnu::always_inline]] inline float curand_uniform(State* state) {
  return runtime::uniform_of(curand(state));
}
[[gnu::always_inline]] inline float curand_uniform(curandStateMRG32k3a* state) {
  return static_cast<float>(runtime::next_mrg(state) * runtime::kMrgStep);
}
[[gnu::always_inline]] inline double curand_uniform_double(curandStateXORWOW* state) {
  const unsigned low = curand(state), high = curand(state);
  return runtime::uniform_of(low, high);
}
/// Philox has 32 random bits here, as in cuRAND; curand_uniform2_double has 53.
[[gnu::always_inline]] inline double curand_uniform_double(curandStatePhilox4_32_10* state) {
  constexpr double kStep = 2.3283064365386963e-10;
  return curand(state) * kStep + kStep;
}
[[gnu::always_inline]] inline double curand_uniform_double(curandStateMRG32k3a* state) {
  return runtime::next_mrg(state) * runtime::kMrgStep;
}
[[gnu::always_inline]] inline float4 curand_uniform4(curandStatePhilox4_32_10* state) {
  const uint4 bits = curand4(state);
  return {runtime::uniform_of(bits.x), runtime::uniform_of(bits.y), runtime::uniform_of(bits.z),
          runtime::uniform_of(bits.w)};
}
[[gnu::always_inline]] inline double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
  const uint4 bits = curand4(state);
  return {runtime::uniform_of(bits.x, bits.y), runtime::uniform_of(bits.z, bits.w)};
}

// ---- Normal, with mean 0 and standard deviation 1 ----

template <runtime::CurandState State>
[[gnu::always_inline]] inline float2 curand_normal2(State* state) {
  const unsigned x = curand(state), y = curand(state);
  return runtime::normals_of(x, y);
}
[[gnu::always_inline]] inline float2 curand_normal2(curandStateMRG32k3a* state) {
  const float u = curand_uniform(state), v = curand_uniform(state) * 6.2831855f;
  return runtime::normals_of(u, v);
}
template <runtime::CurandState State>
[[gnu::always_inline]] inline double2 curand_normal2_double(State* state) {
  const unsigned a = curand(state), b = curand(state), c = curand(state), d = curand(state);
  return runtime::normals_of(runtime::uniform_of(a, b), 2 * runtime::uniform_of(c, d));
}
[[gnu::always_inline]] inline double2 curand_normal2_double(curandStateMRG32k3a* state) {
  const double u = curand_uniform_double(state), v = 2 * curand_uniform_double(state);
  return runtime::normals_of(u, v);
}
[[gnu::always_inline]] inline float4 curand_normal4(curandStatePhilox4_32_10* state) {
  const float2 first = curand_normal2(state), second = curand_normal2(state);
  return {first.x, first.y, second.x, second.y};
}

/// Every second call returns the second value of a pair.
template <runtime::CurandState State>
[[gnu::always_inline]] inline float curand_normal(State* state) {
  if (state->boxmuller_flag == runtime::kNormal) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  const float2 pair = curand_normal2(state);
  state->boxmuller_extra = pair.y;
  state->boxmuller_flag = runtime::kNormal;
  return pair.x;
}
template <runtime::CurandState State>
[[gnu::always_inline]] inline double curand_normal_double(State* state) {
  if (state->boxmuller_flag_double == runtime::kNormal) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  const double2 pair = curand_normal2_double(state);
  state->boxmuller_extra_double = pair.y;
  state->boxmuller_flag_double = runtime::kNormal;
  return pair.x;
}

// ---- Log-normal: the exponential of a normal variable with this mean and standard deviation ----

template <runtime::CurandState State>
[[gnu::always_inline]] inline float2 curand_log_normal2(State* state, float mean, float deviation) {
  const float2 pair = curand_normal2(state);
  return {std::exp(mean + deviation * pair.x), std::exp(mean + deviation * pair.y)};
}
template <runtime::CurandState State>
[[gnu::always_inline]] inline double2 curand_log_normal2_double(State* state, double mean, double deviation) {
  const double2 pair = curand_normal2_double(state);
  return {std::exp(mean + deviation * pair.x), std::exp(mean + deviation * pair.y)};
}
[[gnu::always_inline]] inline float4 curand_log_normal4(curandStatePhilox4_32_10* state, float mean, float deviation) {
  const float2 first = curand_log_normal2(state, mean, deviation), second = curand_log_normal2(state, mean, deviation);
  return {first.x, first.y, second.x, second.y};
}
template <runtime::CurandState State>
[[gnu::always_inline]] inline float curand_log_normal(State* state, float mean, float deviation) {
  if (state->boxmuller_flag == runtime::kLogNormal) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  const float2 pair = curand_log_normal2(state, mean, deviation);
  state->boxmuller_extra = pair.y;
  state->boxmuller_flag = runtime::kLogNormal;
  return pair.x;
}
template <runtime::CurandState State>
[[gnu::always_inline]] inline double curand_log_normal_double(State* state, double mean, double deviation) {
  if (state->boxmuller_flag_double == runtime::kLogNormal) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  const double2 pair = curand_log_normal2_double(state, mean, deviation);
  state->boxmuller_extra_double = pair.y;
  state->boxmuller_flag_double = runtime::kLogNormal;
  return pair.x;
}

// ---- Poisson ----

template <runtime::CurandState State>
[[gnu::always_inline]] inline unsigned curand_poisson(State* state, double mean) {
  if (mean > 4000) return static_cast<unsigned>(std::sqrt(mean) * curand_normal_double(state) + mean + 0.5);
  if (mean >= 64) return runtime::poisson_at(curand_uniform(state), mean);
  // D. Knuth, The Art of Computer Programming, volume 2.
  unsigned events = 0;
  for (float product = std::exp(static_cast<float>(mean)) * curand_uniform(state); product > 1.0f; ++events) {
    product *= curand_uniform(state);
  }
  return events;
}
[[gnu::always_inline]] inline uint4 curand_poisson4(curandStatePhilox4_32_10* state, double mean) {
  const unsigned x = curand_poisson(state, mean), y = curand_poisson(state, mean), z = curand_poisson(state, mean),
                 w = curand_poisson(state, mean);
  return {x, y, z, w};
}

}  // namespace convlab::simt::cuda
