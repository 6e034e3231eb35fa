#pragma once

#include <vector>

#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/warps/kernel_counts.h"

namespace convlab {

/// Launches the kernel once on simt, with images and filters as `verify` fills them, and counts what it does: one value
/// for each function that it launches, arrays named x, w, bias, y, prepared and workspace. Empty for a kernel that is
/// not compiled to be counted. Loads and stores are counted, not checked: verify the kernel first. Error as the
/// kernel's own, and Error(bad_input) if it refuses the step.
std::vector<KernelCounts> count_kernel(const ConvKernel& kernel, const ConvStep& step, Device& simt);

}  // namespace convlab
