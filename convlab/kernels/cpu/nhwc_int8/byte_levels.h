#pragma once

#include <cstdint>
#include <span>

#include "convlab/base/checked.h"
#include "convlab/model/op.h"
#include "convlab/tensor/format.h"

namespace convlab {

// What kernels of nhwc4 uint8 share.

/// Bytes from one pixel to the next.
inline int64_t pixel_bytes(int64_t channels) { return round_up(channels, kChannelBytes); }

/// How a number is quantized: it is rounded, `zero` is added, and the result is clamped to [low, high].
struct LevelRule {
  int zero = 0, low = 0, high = 255;
};

template <class Op>
LevelRule rule_of(const Op& op) {
  return {op.zero, op.low, op.high};
}

/// Quantizes a number: rounds half to even, as kernels/ops/quantized does; NaN becomes the lowest value.
inline uint8_t level_of(float value, const LevelRule& rule) {
  // A float32 near 1.5 * 2^23 is an integer: adding it rounds to nearest even, as the processor does.
  constexpr float kWhole = 12582912;
  const auto low = static_cast<float>(rule.low - rule.zero), high = static_cast<float>(rule.high - rule.zero);
  value = value > low ? value : low;
  value = value < high ? value : high;
  const float rounded = value + kWhole - kWhole;
  return static_cast<uint8_t>(static_cast<int>(rounded) + rule.zero);
}

/// An addition as kernels compute it: round(a * a_factor + (b * b_factor + rest)), with fused multiply-adds.
struct ByteSum {
  float a_factor = 1, b_factor = 1, rest = 0;
  LevelRule rule;
};

/// Returns the addition of `op` if the kernel's `a`, an integer as float32, has the zero point `zero_of_a`: 0 if it has
/// been subtracted already.
ByteSum sum_of(const ByteAddOp& op, int zero_of_a);

/// y = the quantized sum of two arrays.
void add_levels(const uint8_t* a, const uint8_t* b, int64_t count, const ByteSum& sum, uint8_t* y);

/// y[i] = the maximum over pixels of their value i, for i in [0, count); 0 if there are no pixels.
void largest_levels(std::span<const uint8_t* const> pixels, int64_t count, uint8_t* y);

/// Sums each channel over pixels that are `step` bytes apart.
void sum_pixels(const uint8_t* x, int64_t pixels, int64_t step, int64_t channels, int32_t* sums);

/// Quantizes the pixels of up to 4 planes that are `plane` floats apart: round(x / scale) + zero. y has 4 bytes per
/// pixel.
void quantize_planes(const float* x, int64_t plane, int64_t planes, int64_t pixels, float scale, const LevelRule& rule,
                     uint8_t* y);

}  // namespace convlab
