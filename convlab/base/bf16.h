#pragma once

#include <bit>
#include <cstdint>

namespace convlab {

// A bfloat16 is stored as its 16 bits: the upper half of a float.

/// Rounds to the nearest bfloat16, ties to even; NaN becomes a quiet NaN.
constexpr uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (value != value) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

constexpr float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

}  // namespace convlab
