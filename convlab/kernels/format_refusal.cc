// Finds formats in which a kernel supports a step, or why it supports none.

#include "convlab/kernels/format_refusal.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "convlab/kernels/select.h"

namespace convlab {

Step in_formats(Step step, Format input, Format output) {
  const bool conv = std::holds_alternative<ConvOp>(step.op);
  const auto fitting = [conv](const Shape& shape, Format format) {
    const bool one_pixel = shape.size() == 4 && shape[2] == 1 && shape[3] == 1;
    return format.order == Order::nhwc && one_pixel && !conv ? kNchw : format;
  };
  const auto put = [&](Operand& operand, Format format) {
    operand.format = fitting(operand.shape, format);
    operand.written = operand.format.order == Order::nchw ? Shape() : operand.shape;
  };
  for (Operand& each : step.inputs) {
    if (!each.constant && !(each.format == kRawPixels && input == kNchw)) put(each, input);
  }
  if (step.outputs[0].format != kRawPixels) step.outputs[0].format = fitting(step.outputs[0].shape, output);
  return step;
}

std::optional<Step> in_supported_formats(const Kernel& kernel, const Step& plain, const DeviceCaps& caps) {
  const Format own = kernel.format;
  for (const auto& [input, output] :
       {std::pair(kNchw, kNchw), {own, own}, {kNchw, own}, {own, kNchw}, {kRawPixels, kRawPixels}}) {
    Step step = in_formats(plain, input, output);
    if (!refusal_of(kernel, step, caps)) return step;
  }
  return std::nullopt;
}

Refusal refuse_in_all_formats(const Kernel& kernel, const Step& step, const DeviceCaps& caps) {
  const Format own = kernel.format;
  std::vector<std::string> reasons;
  for (const auto& [input, output] : {std::pair(kNchw, own), {own, own}, {kNchw, kNchw}, {own, kNchw}}) {
    Refusal reason = refusal_of(kernel, in_formats(step, input, output), caps);
    if (!reason) return std::nullopt;
    reasons.push_back(*std::move(reason));
  }
  // A reason that is about formats is returned for most of them, and another one only where the formats fit. Of equally
  // frequent ones take that for nchw in and the own format out: there, a kernel for both reaches its other checks.
  return *std::ranges::min_element(reasons, {},
                                   [&](const std::string& each) { return std::ranges::count(reasons, each); });
}

}  // namespace convlab
