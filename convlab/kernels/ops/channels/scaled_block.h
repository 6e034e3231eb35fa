#pragma once

#include <cstdint>

#include "convlab/kernels/cpu_channels/channels.h"

namespace convlab {

/// y = (x - minus) * factor + plus, clamped, for a block of 8 channels in Layout::channel_lanes, 8 numbers each.
void scale_block(const float* x, const float* minus, const float* factor, const float* plus, const Clamp& clamp,
                 int64_t pixels, float* y);

}  // namespace convlab
