#pragma once

namespace convlab {

/// The levels that a quantized result may have.
struct Levels {
  float low, high;
};

/// round(value) + zero, saturated; half to even. As ONNX Runtime does it: clamped about the zero point, then rounded,
/// then moved. NaN stays NaN.
inline float saturated(float value, float zero, Levels levels) {
  // A float32 about 1.5 * 2^23 is a whole number: adding it rounds, as the processor does, to the nearest or even one.
  constexpr float kWhole = 12582912;
  const float low = levels.low - zero, high = levels.high - zero;
  value = value < low ? low : value;
  value = value > high ? high : value;
  return (value + kWhole - kWhole) + zero;
}

}  // namespace convlab
