#pragma once

#include <cstdint>
#include <span>

#include "convlab/model/op.h"
#include "convlab/tensor/layout.h"

namespace convlab {

// What kernels of Layout::channel_bytes share.

/// Bytes from one pixel to the next.
inline int64_t pixel_bytes(int64_t channels) { return round_up(channels, kChannelBytes); }

/// How a number becomes a level: rounded, moved by `zero`, and no lower than `low`, no higher than `high`.
struct LevelRule {
  int zero = 0, low = 0, high = 255;
};

template <class Op>
LevelRule rule_of(const Op& op) {
  return {op.zero, op.low, op.high};
}

/// The level of a number: half to even, as kernels/ops/quantized rounds; of NaN the lowest.
inline uint8_t level_of(float value, const LevelRule& rule) {
  // A float32 about 1.5 * 2^23 is a whole number: adding it rounds, as the processor does, to the nearest or even one.
  constexpr float kWhole = 12582912;
  const auto low = static_cast<float>(rule.low - rule.zero), high = static_cast<float>(rule.high - rule.zero);
  value = value > low ? value : low;
  value = value < high ? value : high;
  const float rounded = value + kWhole - kWhole;
  return static_cast<uint8_t>(static_cast<int>(rounded) + rule.zero);
}

/// An addition as kernels compute it: round(a * a_factor + (b * b_factor + rest)), fused multiply-adds.
struct ByteSum {
  float a_factor = 1, b_factor = 1, rest = 0;
  LevelRule rule;
};

/// Of an `a` that is less its zero point already, and a whole number as a float32.
ByteSum sum_of(const ByteAddOp& op, int zero_of_a);

/// y = the sum of two arrays.
void add_levels(const uint8_t* a, const uint8_t* b, int64_t count, const ByteSum& sum, uint8_t* y);

/// y = the largest of `count` levels of some pixels each; 0 of none.
void largest_levels(std::span<const uint8_t* const> pixels, int64_t count, uint8_t* y);

/// Sums of each channel over pixels, `step` bytes apart.
void sum_pixels(const uint8_t* x, int64_t pixels, int64_t step, int64_t channels, int32_t* sums);

/// Pixels of up to 4 planes of real numbers as levels: round(x / scale) + zero.
void quantize_planes(const float* x, int64_t plane, int64_t planes, int64_t pixels, float scale, const LevelRule& rule,
                     uint8_t* y);

}  // namespace convlab
