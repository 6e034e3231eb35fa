#pragma once

#include <cstdint>

namespace convlab {

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): small, and
/// returns the same numbers on every machine and standard library, which std::uniform_real_distribution does not
/// guarantee.
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

  /// Uniform in [low, high).
  float uniform(float low, float high) { return low + (high - low) * (static_cast<float>(next() >> 40) * 0x1p-24f); }

  /// Uniform in [low, high], both included. The bias of the modulo is below 2^-32 for ranges below 2^32.
  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  uint64_t state_;
};

}  // namespace convlab
