#pragma once

#include "convlab/kernels/conv_step.h"

namespace convlab {

/// Returns why the kernel does not support the step, whatever the formats of its input and output; nullopt if it does
/// in some of the formats that the kernel knows.
Refusal refuse_in_all_formats(const Kernel& kernel, ConvStep step, const DeviceCaps& caps);

}  // namespace convlab
