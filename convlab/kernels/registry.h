#pragma once

#include <string>
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
/// While it lives, convolution kernels that register are those of a file that is being loaded: they get its name, and
/// the planner takes them only when asked for by name. If the name is that of a registered kernel, the file's takes its
/// place instead. Before anybody asks for conv_kernels(), whose references stay valid.
class FileRegistration {
 public:
  explicit FileRegistration(std::string name);
  ~FileRegistration();
  FileRegistration(const FileRegistration&) = delete;
  FileRegistration& operator=(const FileRegistration&) = delete;

  /// How many kernels have registered.
  int count() const;
};

using RegisterConvKernel = RegisterKernel<ConvKernel>;
using RegisterOpKernel = RegisterKernel<OpKernel>;

}  // namespace convlab
