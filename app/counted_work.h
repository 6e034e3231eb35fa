#pragma once

#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/predict/kernel_work.h"

namespace convlab::app {

/// Counts the kernel on simt, on at most `most_images` of the step's images if it treats each alone, and finds out how
/// many registers it needs on a GPU of this compute capability. Throws Error(bad_input) if the kernel does not support
/// the step, or launches nothing that simt can count.
KernelWork counted_work(const Kernel& kernel, const Step& plain, int64_t most_images, int compute_capability,
                        Device& simt);

}  // namespace convlab::app
