#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/kernels/kernel.h"
#include "convlab/kernels/op.h"

namespace convlab {

/// Returns every kernel of this build, ordered by device, rung and name. References stay valid.
const std::vector<ConvKernel>& conv_kernels();
const std::vector<OpKernel>& op_kernels();

/// Returns the kernel with this name on this device, or nullptr.
const ConvKernel* find_conv_kernel(std::string_view name, DeviceKind device);

/// Returns the kernel with this name on this device. Throws Error(bad_input) with the nearest name if it is unknown, or
/// Error(unavailable) if the kernel exists only for another device.
const ConvKernel& require_conv_kernel(std::string_view name, DeviceKind device);

/// Registers a kernel before main. The kernel's file ends with `const RegisterConvKernel registered{{.info = kInfo,
/// ...}};`. This works because kernels are linked as object files: from a static library, the linker would drop them
/// silently (a test compares the registered kernels with the files). Two kernels with the same name and device abort
/// the program.
template <class Kernel>
struct RegisterKernel {
  explicit RegisterKernel(Kernel kernel, const char* file = __builtin_FILE());
};
/// While an instance exists, convolution kernels that register belong to a kernel file that is being loaded: they get
/// its name, and the planner uses them only when asked for by name. If a registered kernel already has this name, the
/// file's kernel replaces it. Create it before the first call of conv_kernels(), whose references stay valid.
class FileRegistration {
 public:
  explicit FileRegistration(std::string name);
  ~FileRegistration();
  FileRegistration(const FileRegistration&) = delete;
  FileRegistration& operator=(const FileRegistration&) = delete;

  /// Returns how many kernels have registered.
  int count() const;
};

using RegisterConvKernel = RegisterKernel<ConvKernel>;
using RegisterOpKernel = RegisterKernel<OpKernel>;

}  // namespace convlab
