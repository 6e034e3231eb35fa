#pragma once

#include <cstdint>

#include "convlab/simt/vector_types.h"

/// The pseudorandom generators of curand_kernel.h. A state is an ordinary variable of the kernel: reads and writes of
/// it are checked. The sequences are cuRAND's, compared with cuRAND 10 (CUDA 13):
///
/// - XORWOW: G. Marsaglia, "Xorshift RNGs", 2003, section 3.1. The documentation says that subsequences are 2^67
///   elements apart. It does not say how a seed becomes a state: the constants are those of the public header, with
///   which seed 0 does not start at the numbers of the paper, although the documentation says so.
/// - Philox4x32-10: J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. The seed is the key, the
///   offset / 4 the lower half of the counter, and the subsequence its upper half.
/// - MRG32k3a: P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number
///   generators", 1999. Subsequences are 2^76 elements apart. Seeding is as for XORWOW.
///
/// Not supported, so their names are unknown: Sobol' sequences, MTGP32 and discrete distributions.
namespace convlab::simt::cuda {

/// The second value of a Box-Muller pair, kept until the next call of the same function.
struct CurandExtra {
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};

struct curandStateXORWOW : CurandExtra {
  unsigned d, v[5];
};
struct curandStatePhilox4_32_10 : CurandExtra {
  uint4 ctr, output;
  uint2 key;
  unsigned STATE;  ///< index of the next value in `output`
};
struct curandStateMRG32k3a : CurandExtra {
  unsigned s1[3], s2[3];
};
using curandStateXORWOW_t = curandStateXORWOW;
using curandState = curandStateXORWOW;
using curandState_t = curandStateXORWOW;
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;
using curandStateMRG32k3a_t = curandStateMRG32k3a;

namespace runtime {

void start(curandStateXORWOW& state, uint64_t seed) noexcept;
void start(curandStatePhilox4_32_10& state, uint64_t seed) noexcept;
void start(curandStateMRG32k3a& state, uint64_t seed) noexcept;
/// Skip `count` elements, or 2^shift times as many.
void skip(curandStateXORWOW& state, uint64_t count, int shift) noexcept;
void skip(curandStatePhilox4_32_10& state, uint64_t count, int shift) noexcept;
void skip(curandStateMRG32k3a& state, uint64_t count, int shift) noexcept;

constexpr int subsequence_shift(const curandStateXORWOW*) { return 67; }
constexpr int subsequence_shift(const curandStatePhilox4_32_10*) { return 66; }
constexpr int subsequence_shift(const curandStateMRG32k3a*) { return 76; }

template <class State>
concept CurandState = requires(const State* state) {
  subsequence_shift(state);
};

// The library works on a copy of the state, so that accesses to the state are the kernel's.
template <CurandState State>
[[gnu::always_inline]] inline void skip_in(State* state, uint64_t count, int shift) {
  State copy = *state;
  skip(copy, count, shift);
  *state = copy;
}

/// The ten rounds of Philox4x32.
constexpr uint4 philox(uint4 counter, uint2 key) {
  constexpr uint64_t kFirst = 0xd2511f53, kSecond = 0xcd9e8d57;
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = kFirst * counter.x, b = kSecond * counter.z;
    counter = {static_cast<unsigned>(b >> 32) ^ counter.y ^ key.x, static_cast<unsigned>(b),
               static_cast<unsigned>(a >> 32) ^ counter.w ^ key.y, static_cast<unsigned>(a)};
    key = {key.x + 0x9e3779b9u, key.y + 0xbb67ae85u};
  }
  return counter;
}

/// Returns the next element of MRG32k3a, 1 to 4294967087.
[[gnu::always_inline]] inline unsigned next_mrg(curandStateMRG32k3a* state) {
  constexpr int64_t kModulus1 = 4294967087, kModulus2 = 4294944443;
  int64_t first = (int64_t{1403580} * state->s1[1] - int64_t{810728} * state->s1[0]) % kModulus1;
  int64_t second = (int64_t{527612} * state->s2[2] - int64_t{1370589} * state->s2[0]) % kModulus2;
  if (first < 0) first += kModulus1;
  if (second < 0) second += kModulus2;
  state->s1[0] = state->s1[1];
  state->s1[1] = state->s1[2];
  state->s1[2] = static_cast<unsigned>(first);
  state->s2[0] = state->s2[1];
  state->s2[1] = state->s2[2];
  state->s2[2] = static_cast<unsigned>(second);
  return static_cast<unsigned>(first > second ? first - second : first - second + kModulus1);
}

}  // namespace runtime

/// Starts at an element of a subsequence of the seed's sequence.
template <runtime::CurandState State>
[[gnu::always_inline]] inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                                               unsigned long long offset, State* state) {
  State made{};
  runtime::start(made, seed);
  runtime::skip(made, subsequence, runtime::subsequence_shift(state));
  runtime::skip(made, offset, 0);
  *state = made;
}

template <runtime::CurandState State>
[[gnu::always_inline]] inline void skipahead(unsigned long long count, State* state) {
  runtime::skip_in(state, count, 0);
}
/// Skips subsequences. skipahead_subsequence is the name for MRG32k3a, whose sequences are 2^127 elements apart.
template <runtime::CurandState State>
[[gnu::always_inline]] inline void skipahead_sequence(unsigned long long count, State* state) {
  runtime::skip_in(state, count, runtime::subsequence_shift(state));
}
[[gnu::always_inline]] inline void skipahead_subsequence(unsigned long long count, curandStateMRG32k3a* state) {
  runtime::skip_in(state, count, runtime::subsequence_shift(state));
}
[[gnu::always_inline]] inline void skipahead_sequence(unsigned long long count, curandStateMRG32k3a* state) {
  runtime::skip_in(state, count, 127);
}

// ---- The next 32 random bits ----

[[gnu::always_inline]] inline unsigned curand(curandStateXORWOW* state) {
  const unsigned mixed = state->v[0] ^ state->v[0] >> 2;
  for (int i = 0; i < 4; ++i) state->v[i] = state->v[i + 1];
  const unsigned last = state->v[4];
  state->v[4] = last ^ last << 4 ^ mixed ^ mixed << 1;
  state->d += 362437;
  return state->v[4] + state->d;
}
[[gnu::always_inline]] inline unsigned curand(curandStateMRG32k3a* state) {
  // Stretches 1 to 4294967087 over 32 bits.
  return static_cast<unsigned>(runtime::next_mrg(state) * 1.000000048662);
}
[[gnu::always_inline]] inline unsigned curand(curandStatePhilox4_32_10* state) {
  const unsigned at = state->STATE;
  const unsigned value = at == 0   ? state->output.x
                         : at == 1 ? state->output.y
                         : at == 2 ? state->output.z
                                   : state->output.w;
  if (at < 3) {
    state->STATE = at + 1;
    return value;
  }
  if (++state->ctr.x == 0 && ++state->ctr.y == 0 && ++state->ctr.z == 0) ++state->ctr.w;
  state->output = runtime::philox(state->ctr, state->key);
  state->STATE = 0;
  return value;
}
/// The next four values.
[[gnu::always_inline]] inline uint4 curand4(curandStatePhilox4_32_10* state) {
  const unsigned x = curand(state), y = curand(state), z = curand(state), w = curand(state);
  return {x, y, z, w};
}

}  // namespace convlab::simt::cuda
