// Chooses the kernel that computes an operator on a device.

#include "convlab/kernels/op.h"

#include "convlab/base/error.h"
#include "convlab/kernels/preference.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

/// Why a kernel does not support a step: its own reason, an unsupported layout, or too little precision.
Refusal refusal_of(const OpKernel& kernel, const Step& step, Math math) {
  for (const Format format : {step.inputs[0].format, step.outputs[0].format}) {
    if (format.order != Order::nchw && format != kernel.format)
      return fmt::format("{} is not supported", name_of(format));
  }
  if (kernel.info.math > math) {
    return fmt::format("{} is less precise than {}", name_of(kernel.info.math), name_of(math));
  }
  return kernel.refuses(step);
}

}  // namespace

const OpKernel* find_op_kernel(const Step& step, DeviceKind device, Math math) {
  const OpKernel* best = nullptr;
  for (const OpKernel& kernel : op_kernels()) {
    if (kernel.info.device != device || refusal_of(kernel, step, math)) continue;
    if (best == nullptr || comes_before(kernel.info, best->info)) best = &kernel;
  }
  return best;
}

const OpKernel& choose_op_kernel(const Step& step, DeviceKind device, Math math) {
  if (const OpKernel* kernel = find_op_kernel(step, device, math)) return *kernel;
  const std::string why = why_unsupported(step, device, math);
  throw unavailable("not supported on {}: {}{}{}", name_of(device), name_of(step.op), why.empty() ? "" : ": ", why);
}

std::string why_unsupported(const Step& step, DeviceKind device, Math math) {
  // A kernel of another operator has the same reason for all others. A reason of its own is about this step.
  Step scale = step, softmax = step;
  scale.op = ScaleOp{};
  softmax.op = SoftmaxOp{};
  for (const OpKernel& kernel : op_kernels()) {
    if (kernel.info.device != device) continue;
    const Refusal refusal = refusal_of(kernel, step, math);
    if (refusal && refusal != refusal_of(kernel, scale, math) && refusal != refusal_of(kernel, softmax, math))
      return *refusal;
  }
  return "";
}

size_t workspace_bytes(const OpKernel& kernel, const Step& step, int threads) {
  const size_t all = kernel.workspace_bytes != nullptr ? kernel.workspace_bytes(step) : 0;
  const size_t each = kernel.thread_bytes != nullptr ? kernel.thread_bytes(step) : 0;
  return all + each * static_cast<size_t>(threads);
}

}  // namespace convlab
