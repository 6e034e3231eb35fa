#pragma once

#include <bit>
#include <cstdint>

namespace convlab {

/// Converts fp16 (IEEE binary16) bits to float: exact, keeps NaN and infinities.
inline float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

/// Converts float to fp16 (IEEE binary16) bits, rounding to nearest even; overflow becomes infinity, NaN stays NaN.
inline uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 2^16 and above
  if (magnitude < 0x38800000u) {
    // Below 2^-14 the result is subnormal; adding 0.5 puts the unit in the last place at 2^-24 and rounds in hardware.
    const uint32_t rounded = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f);
    return static_cast<uint16_t>(sign | (rounded - 0x3f000000u));
  }
  const uint32_t rounded = magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

/// Rounds to the nearest bfloat16, ties to even; overflow becomes infinity, NaN stays NaN.
inline float rounded_to_brain(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return value;
  return std::bit_cast<float>((bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u);
}

}  // namespace convlab
