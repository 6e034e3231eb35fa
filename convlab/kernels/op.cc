#include "convlab/kernels/op.h"

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

std::vector<OpKernel>& kernels() {
  static std::vector<OpKernel> all;
  return all;
}

/// The kernel's refusal, or that it does not know the step's layouts, or is not precise enough.
Refusal refusal_of(const OpKernel& kernel, const OpStep& step, Math math) {
  for (const Layout layout : {step.input_layout, step.output_layout}) {
    if (layout != Layout::plain && layout != kernel.layout) return "does not know the layout of an array";
  }
  if (kernel.math > math) {
    return fmt::format("computes in {}, less precisely than {}", name_of(kernel.math), name_of(math));
  }
  return kernel.refuses(step);
}

}  // namespace

RegisterOpKernel::RegisterOpKernel(OpKernel kernel, const char* file) {
  kernel.file = registered_file(file);
  std::vector<OpKernel>& all = kernels();
  // By name, so that the choice does not depend on the order of linking.
  all.insert(std::upper_bound(all.begin(), all.end(), kernel,
                              [](const OpKernel& a, const OpKernel& b) { return a.name < b.name; }),
             kernel);
}

const std::vector<OpKernel>& op_kernels() { return kernels(); }

const OpKernel* find_op_kernel(const OpStep& step, DeviceKind device, Math math) {
  const OpKernel* best = nullptr;
  for (const OpKernel& kernel : kernels()) {
    if (kernel.device != device || refusal_of(kernel, step, math)) continue;
    if (best == nullptr || kernel.rank > best->rank) best = &kernel;
  }
  return best;
}

const OpKernel& choose_op_kernel(const OpStep& step, DeviceKind device, Math math) {
  if (const OpKernel* kernel = find_op_kernel(step, device, math)) return *kernel;
  std::string refusals;
  for (const OpKernel& kernel : kernels()) {
    if (kernel.device == device) refusals += fmt::format("; {}: {}", kernel.name, *refusal_of(kernel, step, math));
  }
  throw unavailable("no kernel computes {} on {}{}", name_of(step.op), name_of(device), refusals);
}

}  // namespace convlab
