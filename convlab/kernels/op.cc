#include "convlab/kernels/op.h"

#include <algorithm>

#include "convlab/base/error.h"

namespace convlab {
namespace {

std::vector<OpKernel>& kernels() {
  static std::vector<OpKernel> all;
  return all;
}

/// The kernel's refusal, or that it does not know the step's layouts.
Refusal refusal_of(const OpKernel& kernel, const OpStep& step) {
  const bool plain = step.input_layout == Layout::plain && step.output_layout == Layout::plain;
  if (!plain && !kernel.image_lanes) return "takes and gives plain arrays alone";
  return kernel.refuses(step);
}

}  // namespace

RegisterOpKernel::RegisterOpKernel(const OpKernel& kernel) {
  std::vector<OpKernel>& all = kernels();
  // By name, so that the choice does not depend on the order of linking.
  all.insert(std::upper_bound(all.begin(), all.end(), kernel,
                              [](const OpKernel& a, const OpKernel& b) { return a.name < b.name; }),
             kernel);
}

const std::vector<OpKernel>& op_kernels() { return kernels(); }

const OpKernel* find_op_kernel(const OpStep& step, DeviceKind device) {
  for (const OpKernel& kernel : kernels()) {
    if (kernel.device == device && !refusal_of(kernel, step)) return &kernel;
  }
  return nullptr;
}

const OpKernel& choose_op_kernel(const OpStep& step, DeviceKind device) {
  if (const OpKernel* kernel = find_op_kernel(step, device)) return *kernel;
  std::string refusals;
  for (const OpKernel& kernel : kernels()) {
    if (kernel.device == device) refusals += fmt::format("; {}: {}", kernel.name, *refusal_of(kernel, step));
  }
  throw unavailable("no kernel computes {} on {}{}", name_of(step.op), name_of(device), refusals);
}

}  // namespace convlab
