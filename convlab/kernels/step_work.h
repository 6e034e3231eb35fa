#pragma once

#include "convlab/kernels/step.h"

namespace convlab {

/// Returns the arithmetic operations of convolutions (direct method) and matrix products, integer ones included; 0 for
/// other operators. A multiply-add is two operations.
double operations(const Step& step);

/// Same for floating-point operations only.
double flops(const Step& step);

/// Returns the least bytes that a step moves: its inputs and its output once each. For a convolution as other libraries
/// count: without padding channels, bias and added array, and with float32 filters.
double compulsory_bytes(const Step& step);

}  // namespace convlab
