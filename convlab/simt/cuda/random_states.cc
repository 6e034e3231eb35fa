// Starts pseudorandom generators and skips elements of their sequences.

#include "convlab/simt/cuda/random_states.h"

#include <array>
#include <memory>

namespace convlab::simt::cuda::runtime {
namespace {

// ---- XORWOW: its five xorshift words are a vector of 160 bits, and a step is a matrix over GF(2). ----

constexpr int kWords = 5, kBits = 32 * kWords;
using Bits = std::array<uint32_t, kWords>;

// The images of the 160 unit vectors.
using BitMatrix = std::array<Bits, kBits>;

Bits times(const BitMatrix& matrix, const Bits& vector) {
  Bits product{};
  for (int bit = 0; bit < kBits; ++bit) {
    if ((vector[bit / 32] >> bit % 32 & 1) == 0) continue;
    for (int word = 0; word < kWords; ++word) product[word] ^= matrix[bit][word];
  }
  return product;
}

Bits step(const Bits& v) {
  const uint32_t mixed = v[0] ^ v[0] >> 2, last = v[4];
  return {v[1], v[2], v[3], v[4], last ^ last << 4 ^ mixed ^ mixed << 1};
}

constexpr int kXorwowPowers = 67 + 64;

// Steps of 2^i.
using BitPowers = std::array<BitMatrix, kXorwowPowers>;

std::unique_ptr<const BitPowers> powers_of_step() {
  auto powers = std::make_unique<BitPowers>();
  for (int bit = 0; bit < kBits; ++bit) {
    Bits unit{};
    unit[bit / 32] = 1u << bit % 32;
    powers->front()[bit] = step(unit);
  }
  for (int i = 1; i < kXorwowPowers; ++i) {
    const BitMatrix& half = (*powers)[i - 1];
    for (int bit = 0; bit < kBits; ++bit) (*powers)[i][bit] = times(half, half[bit]);
  }
  return powers;
}

// ---- MRG32k3a: each half is a vector of three numbers, and a step is a matrix modulo the half's modulus. ----

using Triple = std::array<uint64_t, 3>;
using Matrix = std::array<Triple, 3>;

constexpr uint64_t kModulus1 = 4294967087, kModulus2 = 4294944443;
constexpr Matrix kStep1{{{0, 1, 0}, {0, 0, 1}, {kModulus1 - 810728, 1403580, 0}}};
constexpr Matrix kStep2{{{0, 1, 0}, {0, 0, 1}, {kModulus2 - 1370589, 0, 527612}}};

Triple times(const Matrix& matrix, const Triple& vector, uint64_t modulus) {
  Triple product{};
  for (int row = 0; row < 3; ++row) {
    for (int i = 0; i < 3; ++i) product[row] = (product[row] + matrix[row][i] * vector[i] % modulus) % modulus;
  }
  return product;
}

Matrix squared(const Matrix& matrix, uint64_t modulus) {
  Matrix square{};
  for (int column = 0; column < 3; ++column) {
    const Triple image = times(matrix, {matrix[0][column], matrix[1][column], matrix[2][column]}, modulus);
    for (int row = 0; row < 3; ++row) square[row][column] = image[row];
  }
  return square;
}

constexpr int kMrgPowers = 127 + 64;

// Steps of 2^i, of both halves.
struct MrgPowers {
  std::array<Matrix, kMrgPowers> first, second;
};

std::unique_ptr<const MrgPowers> powers_of_mrg() {
  auto powers = std::make_unique<MrgPowers>();
  powers->first.front() = kStep1;
  powers->second.front() = kStep2;
  for (int i = 1; i < kMrgPowers; ++i) {
    powers->first[i] = squared(powers->first[i - 1], kModulus1);
    powers->second[i] = squared(powers->second[i - 1], kModulus2);
  }
  return powers;
}

void skip_half(unsigned (&half)[3], const std::array<Matrix, kMrgPowers>& powers, uint64_t modulus, uint64_t count,
               int shift) {
  Triple state{half[0], half[1], half[2]};
  for (int i = shift; count != 0; ++i, count >>= 1) {
    if ((count & 1) != 0) state = times(powers[i], state, modulus);
  }
  for (int i = 0; i < 3; ++i) half[i] = static_cast<unsigned>(state[i]);
}

}  // namespace

void start(curandStateXORWOW& state, uint64_t seed) noexcept {
  const unsigned low = 1099087573u * (static_cast<unsigned>(seed) ^ 0xaad26b49u);
  const unsigned high = 2591861531u * (static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddu);
  // The numbers of Marsaglia's paper.
  state.d = 6615241u + high + low;
  state.v[0] = 123456789u + low;
  state.v[1] = 362436069u ^ low;
  state.v[2] = 521288629u + high;
  state.v[3] = 88675123u ^ high;
  state.v[4] = 5783321u + low;
}

void start(curandStatePhilox4_32_10& state, uint64_t seed) noexcept {
  state.key = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
  state.output = philox(state.ctr, state.key);
}

void start(curandStateMRG32k3a& state, uint64_t seed) noexcept {
  constexpr uint64_t kStart = 12345;  // of every number in L'Ecuyer's implementation
  const uint64_t low = static_cast<unsigned>(seed) ^ 0x55555555u,
                 high = static_cast<unsigned>(seed >> 32) ^ 0xaaaaaaaau;
  for (int i = 0; i < 3; ++i) {
    const bool takes_low = i != 1;
    state.s1[i] = static_cast<unsigned>(seed == 0 ? kStart : kStart * (takes_low ? low : high) % kModulus1);
    state.s2[i] = static_cast<unsigned>(seed == 0 ? kStart : kStart * (takes_low ? high : low) % kModulus2);
  }
}

void skip(curandStateXORWOW& state, uint64_t count, int shift) noexcept {
  static const std::unique_ptr<const BitPowers> powers = powers_of_step();
  Bits v{state.v[0], state.v[1], state.v[2], state.v[3], state.v[4]};
  for (int i = 0; i < 64; ++i) {
    if ((count >> i & 1) != 0) v = times((*powers)[shift + i], v);
  }
  for (int i = 0; i < kWords; ++i) state.v[i] = v[i];
  if (shift < 32) state.d += 362437u * static_cast<unsigned>(count << shift);
}

void skip(curandStatePhilox4_32_10& state, uint64_t count, int shift) noexcept {
  uint64_t low = state.ctr.x | uint64_t{state.ctr.y} << 32, high = state.ctr.z | uint64_t{state.ctr.w} << 32;
  if (shift == 0) {
    const uint64_t blocks = (state.STATE + (count & 3)) / 4 + count / 4;
    state.STATE = (state.STATE + (count & 3)) % 4;
    low += blocks;
    if (low < blocks) ++high;
  } else {
    high += count;  // a subsequence has 2^64 blocks of four
  }
  state.ctr = {static_cast<unsigned>(low), static_cast<unsigned>(low >> 32), static_cast<unsigned>(high),
               static_cast<unsigned>(high >> 32)};
  state.output = philox(state.ctr, state.key);
}

void skip(curandStateMRG32k3a& state, uint64_t count, int shift) noexcept {
  static const std::unique_ptr<const MrgPowers> powers = powers_of_mrg();
  skip_half(state.s1, powers->first, kModulus1, count, shift);
  skip_half(state.s2, powers->second, kModulus2, count, shift);
}

}  // namespace convlab::simt::cuda::runtime
