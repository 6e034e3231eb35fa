// Chooses the kernel that computes an operator on a device.

#include "convlab/kernels/select.h"

#include "convlab/base/error.h"
#include "convlab/kernels/preference.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

/// Same as the public function, and refuses too little precision.
Refusal refusal_of(const Kernel& kernel, const Step& step, const DeviceCaps& caps, Math math) {
  if (kernel.info.math > math) {
    return fmt::format("{} is less precise than {}", name_of(kernel.info.math), name_of(math));
  }
  return refusal_of(kernel, step, caps);
}

}  // namespace

Refusal refusal_of(const Kernel& kernel, const Step& step, const DeviceCaps& caps) {
  for (const Format format : {step.inputs[0].format, step.outputs[0].format}) {
    if (format.order != Order::nchw && format != kernel.format)
      return fmt::format("{} is not supported", name_of(format));
  }
  if (!kernel.is_conv() && !kernel.fuses_activation && !step.epilogue.empty()) {
    return fmt::format("fusing {} is not supported", to_text(step.epilogue));
  }
  return kernel.refuses(step, caps);
}

const Kernel* find_kernel(const Step& step, const DeviceCaps& caps, Math math) {
  const Kernel* best = nullptr;
  for (const Kernel& kernel : kernels()) {
    if (kernel.is_conv() || kernel.info.device != caps.kind || refusal_of(kernel, step, caps, math)) continue;
    if (best == nullptr || comes_before(kernel.info, best->info)) best = &kernel;
  }
  return best;
}

const Kernel& choose_kernel(const Step& step, const DeviceCaps& caps, Math math) {
  if (const Kernel* kernel = find_kernel(step, caps, math)) return *kernel;
  const std::string why = why_unsupported(step, caps, math);
  throw unavailable("not supported on {}: {}{}{}", name_of(caps.kind), name_of(step.op), why.empty() ? "" : ": ", why);
}

std::string why_unsupported(const Step& step, const DeviceCaps& caps, Math math) {
  // A kernel of another operator has the same reason for all others. A reason of its own is about this step.
  Step scale = step, softmax = step;
  scale.op = ScaleOp{};
  softmax.op = SoftmaxOp{};
  for (const Kernel& kernel : kernels()) {
    if (kernel.is_conv() || kernel.info.device != caps.kind) continue;
    const Refusal refusal = refusal_of(kernel, step, caps, math);
    if (refusal && refusal != refusal_of(kernel, scale, caps, math) &&
        refusal != refusal_of(kernel, softmax, caps, math))
      return *refusal;
  }
  return "";
}

}  // namespace convlab
