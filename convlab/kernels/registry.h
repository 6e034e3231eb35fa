#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/kernels/conv_kernel.h"
#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

/// Returns every kernel of this build, ordered by device, rung and name. References stay valid.
const std::vector<Kernel>& kernels();

/// Returns those of the family convolution, in the same order.
std::vector<std::reference_wrapper<const Kernel>> conv_kernels();

/// Returns the kernel with this name, or a former one (former_names.h), on this device, or nullptr.
const Kernel* find_kernel(std::string_view name, DeviceKind device);

/// Returns the kernel with this name on this device. Throws Error(bad_input) with the nearest name if it is unknown, or
/// Error(unavailable) if the kernel exists only for another device.
const Kernel& require_kernel(std::string_view name, DeviceKind device);

/// Same, and throws Error(bad_input) if the kernel does not compute convolutions.
const Kernel& require_conv_kernel(std::string_view name, DeviceKind device);

/// Registers a kernel before main. The kernel's file ends with `const RegisterKernel registered{{.info = kInfo,
/// ...}};`. This works because kernels are linked as object files: from a static library, the linker would drop them
/// silently (a test compares the registered kernels with the files). Two kernels with the same name and device abort
/// the program.
struct RegisterKernel {
  explicit RegisterKernel(Kernel kernel, const char* file = __builtin_FILE());
};

/// While an instance exists, kernels that register belong to a kernel file that is being loaded: they get its name, and
/// the planner uses them only when asked for by name. If a registered kernel already has this name, the file is its
/// source, and the file's kernels replace those of the same names. Create it before the first call of kernels(), whose
/// references stay valid.
class FileRegistration {
 public:
  explicit FileRegistration(std::string name);
  ~FileRegistration();
  FileRegistration(const FileRegistration&) = delete;
  FileRegistration& operator=(const FileRegistration&) = delete;

  /// Returns how many kernels of this name have registered.
  int count() const;
};

}  // namespace convlab
