#pragma once

#include <cstdint>

/// Arithmetic modulo the prime 2^31 - 1. Numbers are in [0, kPrime).
namespace convlab::prime {

inline constexpr uint32_t kPrime = 0x7fffffff;

/// The bit of a word with a number that says that it depends on a kernel's inputs: see convlab/verify/file_proof.h.
inline constexpr uint32_t kOfInput = 0x80000000;

/// The number in such a word.
constexpr uint32_t number_of(uint32_t word) { return word & ~kOfInput; }

constexpr uint32_t reduced(uint64_t number) {
  number = (number & kPrime) + (number >> 31);
  number = (number & kPrime) + (number >> 31);
  return number == kPrime ? 0 : static_cast<uint32_t>(number);
}
constexpr uint32_t sum(uint32_t a, uint32_t b) { return reduced(uint64_t{a} + b); }
constexpr uint32_t negative(uint32_t a) { return a == 0 ? 0 : kPrime - a; }
constexpr uint32_t product(uint32_t a, uint32_t b) { return reduced(uint64_t{a} * b); }

constexpr uint32_t power(uint32_t base, uint32_t exponent) {
  uint32_t result = 1;
  for (; exponent != 0; exponent >>= 1, base = product(base, base)) {
    if ((exponent & 1) != 0) result = product(result, base);
  }
  return result;
}

/// By Fermat's little theorem; `a` must not be 0.
constexpr uint32_t inverse(uint32_t a) { return power(a, kPrime - 2); }

constexpr uint32_t of_integer(int64_t number) {
  const uint32_t size =
      static_cast<uint32_t>((number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number)) % kPrime);
  return number < 0 ? negative(size) : size;
}

}  // namespace convlab::prime
