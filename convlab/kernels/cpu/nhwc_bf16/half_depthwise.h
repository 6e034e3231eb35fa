#pragma once

#include "convlab/kernels/cpu/nchw8c/depthwise_band.h"

namespace convlab {

/// Writes outputs in bf16 nhwc bfloat16: the same fp32 sums as compute_band() in nchw8c, rounded
/// once.
void compute_band(const DepthwiseBand<uint16_t>& band);

}  // namespace convlab
