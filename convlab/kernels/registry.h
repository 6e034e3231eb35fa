#pragma once

#include <string_view>
#include <vector>

#include "convlab/kernels/kernel.h"
#include "convlab/kernels/op.h"

namespace convlab {

/// Every kernel of this build, in the order of devices, rungs and names. A reference stays valid.
const std::vector<ConvKernel>& conv_kernels();
const std::vector<OpKernel>& op_kernels();

/// The kernel of this name on this device, or nullptr.
const ConvKernel* find_conv_kernel(std::string_view name, DeviceKind device);

/// The kernel of this name on this device; otherwise Error(bad_input), which names the nearest one, or
/// Error(unavailable) where the kernel exists only for another device.
const ConvKernel& require_conv_kernel(std::string_view name, DeviceKind device);

/// Puts a kernel in the registry, before main. Its file ends with `const RegisterConvKernel registered{{.info = kInfo,
/// ...}};`. This works because kernels are linked as objects: from a static library the linker would drop them silently
/// (a test compares what is registered with the files). Two kernels of one name and device end the program.
template <class Kernel>
struct RegisterKernel {
  explicit RegisterKernel(Kernel kernel, const char* file = __builtin_FILE());
};
using RegisterConvKernel = RegisterKernel<ConvKernel>;
using RegisterOpKernel = RegisterKernel<OpKernel>;

}  // namespace convlab
