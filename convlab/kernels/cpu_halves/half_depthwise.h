#pragma once

#include "convlab/kernels/cpu_channels/depthwise_band.h"

namespace convlab {

/// Writes outputs in Layout::channel_halves: as compute_band() in lanes, rounded once.
void compute_band(const DepthwiseBand<uint16_t>& band);

}  // namespace convlab
