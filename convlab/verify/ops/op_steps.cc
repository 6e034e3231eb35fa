// Lists the steps to verify of an operator's kernel.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "convlab/kernels/format_refusal.h"
#include "convlab/kernels/select.h"
#include "convlab/kernels/step_text.h"
#include "convlab/model/shapes.h"
#include "convlab/verify/ops/verify_op.h"
#include "convlab/verify/pitched.h"

namespace convlab {

std::vector<Step> op_steps_to_verify(const Kernel& kernel, const Step& problem, const DeviceCaps& caps, bool all) {
  std::vector<Step> formats{problem};
  if (auto* pool = std::get_if<PoolOp>(&formats[0].op)) *pool = {resolved_pool(*pool, problem.inputs[0].shape)};
  if (std::holds_alternative<ScaleOp>(problem.op)) {
    formats[0].inputs[0].format = formats[0].outputs[0].format = kRawPixels;
  }
  if (std::holds_alternative<ActivationOp>(problem.op)) {
    formats.push_back(formats[0]);
    formats.back().inputs[0].format = kRawPixels;
  }
  if (const Format own = kernel.format; own.order != Order::nchw) {
    for (const auto& [input, output] : {std::pair(own, own), {own, kNchw}, {kNchw, own}}) {
      formats.push_back(in_formats(formats[0], input, output));
    }
  }
  std::vector<Step> steps;
  for (const Step& step : formats) {
    if (!refusal_of(kernel, step, caps)) steps.push_back(step);
    for (const Activation& fused : {Activation{ActivationKind::relu}, Activation{ActivationKind::tanh},
                                    Activation{ActivationKind::clip, -0.5f, 0.75f}}) {
      Step with = step;
      with.epilogue.activation = fused;
      if (!refusal_of(kernel, with, caps)) steps.push_back(std::move(with));
    }
  }
  for (const Step& step : formats) {
    Step parts = with_pitches(step);
    const auto has_pitch = [](const Operand& operand) { return operand.pitch != 0; };
    const bool any = std::ranges::any_of(parts.inputs, has_pitch) || std::ranges::any_of(parts.outputs, has_pitch);
    if (any && !refusal_of(kernel, parts, caps)) steps.push_back(std::move(parts));
  }
  if (steps.empty() && all) steps.push_back(formats[0]);
  return steps;
}

std::string describe(const Step& step) {
  std::string text = to_text(step);
  if (!step.epilogue.empty()) text += fmt::format(" {}", to_text(step.epilogue));
  if (step.inputs[0].format != kNchw) text += fmt::format(" from {}", name_of(step.inputs[0].format));
  if (step.outputs[0].format != kNchw) text += fmt::format(" to {}", name_of(step.outputs[0].format));
  if (step.inputs[0].pitch != 0 || step.outputs[0].pitch != 0) text += " with a pitch";
  return text;
}

}  // namespace convlab
