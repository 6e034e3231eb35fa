#pragma once

#include <vector>

#include "convlab/device/device.h"
#include "convlab/kernels/conv_step.h"
#include "convlab/warps/kernel_counts.h"

namespace convlab {

/// Launches the kernel once on simt, with images and filters as in `verify`, and returns the counts of each function
/// that it launches; arrays are named x, w, bias, y, prepared and workspace. Empty for a kernel that is not compiled
/// for counting. Loads and stores are counted, not checked: verify the kernel first. Throws the kernel's own errors,
/// and Error(bad_input) if it does not support the step.
std::vector<KernelCounts> count_kernel(const Kernel& kernel, const ConvStep& step, Device& simt);

}  // namespace convlab
