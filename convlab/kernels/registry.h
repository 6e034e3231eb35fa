#pragma once

#include <string_view>
#include <vector>

#include "convlab/kernels/kernel.h"

namespace convlab {

/// Every convolution kernel of this build, in the order of devices, rungs and names. A reference stays valid.
const std::vector<ConvKernel>& conv_kernels();

/// The kernel of this name on this device, or nullptr.
const ConvKernel* find_conv_kernel(std::string_view name, DeviceKind device);

/// The kernel of this name on this device; otherwise Error(bad_input), which names the nearest one, or
/// Error(unavailable) where the kernel exists but for another device.
const ConvKernel& require_conv_kernel(std::string_view name, DeviceKind device);

/// Libraries are there to be compared with: they are taken when they are asked for.
bool is_library(const ConvKernel& kernel);

/// The path of a kernel's file from the root, of what the compiler calls it: "/home/me/convlab/convlab/kernels/ops/a.cc".
std::string_view registered_file(std::string_view compiled);

/// A kernel's file ends with `const RegisterConvKernel registered{{.info = ..., ...}};`. This works because kernels
/// are linked as objects: from a static library the linker would drop them silently (a test compares names with files).
struct RegisterConvKernel {
  explicit RegisterConvKernel(ConvKernel kernel, const char* file = __builtin_FILE());
};

}  // namespace convlab
