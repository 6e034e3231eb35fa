#pragma once

namespace convlab {

/// The range of quantized values that a result may have.
struct Levels {
  float low, high;
};

/// Returns round(value) + zero, saturated; half to even. Like ONNX Runtime, it clamps relative to the zero point, then
/// rounds, then adds the zero point. NaN stays NaN.
inline float saturated(float value, float zero, Levels levels) {
  // An fp32 value near 1.5 * 2^23 is a whole number: adding it rounds to nearest, half to even, in hardware.
  constexpr float kWhole = 12582912;
  const float low = levels.low - zero, high = levels.high - zero;
  value = value < low ? low : value;
  value = value > high ? high : value;
  return (value + kWhole - kWhole) + zero;
}

}  // namespace convlab
