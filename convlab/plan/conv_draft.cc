// Finds formats and fused operators with which kernels compute a convolution.

#include "convlab/plan/conv_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "convlab/kernels/format_refusal.h"
#include "convlab/plan/candidates.h"
#include "convlab/plan/kept_formats.h"
#include "convlab/plan/reader_formats.h"

namespace convlab {
namespace {

/// Returns the part of the convolution that this kernel computes, with output in `y_format` if possible. Otherwise
/// returns nullopt and sets `refusal`.
std::optional<ConvStep> step_by(const PlanRequest& request, const Kernel& kernel, const ConvStep& whole,
                                Format x_format, Format y_format, Refusal& refusal) {
  std::vector<Format> inputs{x_format};
  if (x_format == kRawPixels) inputs.push_back(kNchw);
  std::vector<Epilogue> parts{whole.epilogue, {.bias = whole.epilogue.bias}, {}};
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  for (const Epilogue& part : parts) {
    for (const Format input : inputs) {
      for (const Format output : {y_format, kNchw}) {
        if (output.order != Order::nchw && (output != kernel.format || part != whole.epilogue)) continue;
        const ConvStep step{whole.problem, part, input, output};
        refusal = kernel.refuses(step, request.caps);
        if (!refusal) return step;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

ConvDraft conv_to_channels(const PlanRequest& request, const std::vector<const Kernel*>& kernels, ConvStep step) {
  const Shape y = step.output_shape();
  const bool plain = one_pixel(y) && (request.channels.order == Order::nhwc || !fits_channels(y));
  step.output_format = plain ? kNchw : request.channels;
  // Images of one pixel are nchw in any plan.
  const bool only_plain = plain && step.input_format.order == Order::nchw;
  ConvDraft draft{.step = step};
  for (const Kernel* kernel : kernels) {
    const bool knows = kernel->format == request.channels || (only_plain && kernel->format.order != Order::nchw);
    if (knows && !kernel->refuses(step, request.caps)) draft.kernels.push_back(kernel);
  }
  return draft;
}

ConvDraft conv_for_readers(const PlanRequest& request, const std::vector<const Kernel*>& kernels, const Fusion& fusion,
                           Format x_format, std::string& refusals) {
  const Format y_format = format_for_readers(request, fusion.output);
  const bool named = !request.options.kernel.empty() || request.chosen != nullptr;
  const ConvStep whole = conv_step(fusion.step);
  ConvDraft draft;
  refusals.clear();
  for (const Kernel* kernel : kernels) {
    Refusal refusal = why_not_for_format(request, *kernel, x_format);
    if (refusal && !named) continue;
    if (refusal) {
      refusal = refuse_in_all_formats(*kernel, ConvStep{.problem = whole.problem}, request.caps).value_or(*refusal);
    }
    const std::optional<ConvStep> step =
        refusal ? std::nullopt : step_by(request, *kernel, whole, x_format, y_format, refusal);
    if (!step) {
      refusals += fmt::format("{}{}: {}", refusals.empty() ? "" : "; ", kernel->info.name, *refusal);
    } else if (draft.kernels.empty()) {
      draft = {*step, {kernel}};
    } else if (*step == draft.step) {
      draft.kernels.push_back(kernel);
    }
  }
  return draft;
}

}  // namespace convlab
