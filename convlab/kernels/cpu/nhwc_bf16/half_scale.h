#pragma once

#include <cstdint>

#include "convlab/kernels/cpu/nchw8c/channels.h"

namespace convlab {

/// Pixels in bf16 nhwc bfloat16, and the parameters of each channel.
struct HalfScale {
  int64_t channels = 0, pixels = 0;
  const uint16_t* x = nullptr;
  int64_t x_step = 0;  ///< elements from pixel to pixel
  const float *minus = nullptr, *factor = nullptr, *plus = nullptr;
  Clamp clamp;
  uint16_t* y = nullptr;
  int64_t y_step = 0;
};

/// y = (x - minus) * factor + plus, clamped.
void scale_pixels(const HalfScale& scale);

}  // namespace convlab
