#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/warps/kernel_counts.h"

namespace convlab {

/// Launches the kernel once on simt, with inputs as in `verify`, and returns the counts of each function that it
/// launches, with the names of array_bytes(). Empty for a kernel that is not compiled for counting. Loads and stores
/// are counted, not checked: verify the kernel first. Throws the kernel's own errors, and Error(bad_input) if it does
/// not support the step.
std::vector<KernelCounts> count_kernel(const Kernel& kernel, const Step& step, Device& simt);

/// Returns the arrays of a step by name, and their sizes in bytes: the inputs x, w, bias and added of a convolution,
/// otherwise x or "input 0", "input 1", ...; y; prepared and workspace, unless they are empty.
std::map<std::string, int64_t> array_bytes(const Kernel& kernel, const Step& step, const DeviceCaps& caps);

}  // namespace convlab
