#pragma once

#include <cstdint>

#include "convlab/kernels/cpu/nchw8c/channels.h"

namespace convlab {

/// Computes y = (x - minus) * factor + plus, clamped, for a block of 8 channels in nchw8c. minus, factor and plus have
/// 8 values each.
void scale_block(const float* x, const float* minus, const float* factor, const float* plus, const Clamp& clamp,
                 int64_t pixels, float* y);

}  // namespace convlab
