// Finds the kernels that may compute the steps of a plan.

#include "convlab/plan/candidates.h"

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/kernels/preference.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/select.h"

namespace convlab {
namespace {

bool precise_enough(const Kernel& kernel, Math wanted) { return kernel.info.math <= wanted; }

template <class Accepts>
std::vector<const Kernel*> candidates(const DeviceCaps& caps, const PlanOptions& options, Accepts accepts) {
  std::vector<const Kernel*> result;
  for (const Kernel& kernel : kernels()) {
    const bool absent = kernel.absent != nullptr && kernel.absent();
    const bool fits = kernel.info.device == caps.kind && precise_enough(kernel, options.math) && !kernel.info.library;
    if (fits && !absent && accepts(kernel)) result.push_back(&kernel);
  }
  std::ranges::sort(result, [](const Kernel* a, const Kernel* b) { return comes_before(a->info, b->info); });
  return result;
}

}  // namespace

std::vector<const Kernel*> conv_candidates(const DeviceCaps& caps, const PlanOptions& options) {
  if (options.kernel.empty()) return candidates(caps, options, [](const Kernel& each) { return each.is_conv(); });
  const Kernel& kernel = require_conv_kernel(options.kernel, caps.kind);
  if (precise_enough(kernel, options.math)) return {&kernel};
  throw bad_input("kernel {} computes in {}, which is less precise than {}; set math to {}", kernel.info.name,
                  name_of(kernel.info.math), name_of(options.math), name_of(kernel.info.math));
}

std::vector<const Kernel*> other_candidates(const DeviceCaps& caps, const PlanOptions& options) {
  return candidates(caps, options, [](const Kernel& each) { return !each.is_conv(); });
}

std::vector<const Kernel*> conv_kernels_for(const PlanRequest& request, const ConvProblem& problem,
                                            std::string_view name, size_t place) {
  if (request.chosen == nullptr) return request.conv_kernels;
  const std::string text = to_text(problem);
  const std::vector<KernelChoice>& choices = request.chosen->kernels;
  if (place >= choices.size()) {
    throw bad_input("{}: no kernel for '{}' ({}): the plan has only {} convolutions; tune again",
                    request.options.choices->at(request.chosen->line), name, text, choices.size());
  }
  const KernelChoice& choice = choices[place];
  const std::string line = request.options.choices->at(choice.line);
  if (choice.problem != text) {
    throw bad_input("{}: problem of '{}' is {} in the file and {} in the model; tune again", line, choice.step,
                    choice.problem, text);
  }
  const Kernel* const kernel = find_named(request.conv_kernels, choice.kernel);
  if (kernel == nullptr) {
    throw bad_input("{}: kernel {} for '{}' is not available on {} in {} on this machine; tune again", line,
                    choice.kernel, choice.step, name_of(request.caps.kind), name_of(request.options.math));
  }
  return {kernel};
}

const Kernel* find_named(const std::vector<const Kernel*>& kernels, std::string_view name) {
  const auto found = std::ranges::find(kernels, name, [](const Kernel* kernel) { return kernel->info.name; });
  return found == kernels.end() ? nullptr : *found;
}

Refusal why_not_for_format(const PlanRequest& request, const Kernel& kernel, Format x_format) {
  if (x_format.order != Order::nchw && kernel.format != x_format) {
    return fmt::format("input in {} is not supported", name_of(x_format));
  }
  const bool asked_for = !request.options.kernel.empty();
  const bool keeps = kernel.format == kNchw8c || kernel.format.order == Order::nhwc;
  if (keeps && kernel.format != request.channels) {
    return fmt::format("only for plans that keep values in {} between steps (networks with many channels, in {})",
                       name_of(kernel.format), name_of(kernel.format == kNchw8c ? Math::fp32 : kernel.info.math));
  }
  if (!info(kernel.format.order).interleaves_images || !request.reader_formats.empty() || asked_for) {
    return std::nullopt;
  }
  if (request.options.mode == PlanMode::layers) return "only for plans that keep values in nchw16n between steps";
  return fmt::format("batch size must be at least {}: the kernel computes 16 images at a time", kLeastImagesInLanes);
}

std::vector<const Kernel*> supporting(const PlanRequest& request, const Step& step) {
  std::vector<const Kernel*> result;
  for (const Kernel* kernel : request.other_kernels) {
    if (!refusal_of(*kernel, step, request.caps)) result.push_back(kernel);
  }
  return result;
}

bool is_supported(const PlanRequest& request, const Step& step) {
  return std::ranges::any_of(request.other_kernels,
                             [&](const Kernel* kernel) { return !refusal_of(*kernel, step, request.caps); });
}

}  // namespace convlab
