// Chooses the kernel of each convolution of a plan, and explains why the others are not used.

#include "convlab/plan/choose.h"

#include <algorithm>
#include <optional>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/kernels/format_refusal.h"
#include "convlab/kernels/preference.h"
#include "convlab/kernels/registry.h"
#include "convlab/plan/formats.h"

namespace convlab {
namespace {

bool precise_enough(const Kernel& kernel, Math wanted) { return kernel.info.math <= wanted; }

/// Returns why a kernel's layouts do not fit the plan's, or nullopt if they do.
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
  if (!info(kernel.format.order).interleaves_images || !request.formats.empty() || asked_for) return std::nullopt;
  if (request.options.mode == PlanMode::layers) return "only for plans that keep values in nchw16n between steps";
  return fmt::format("batch size must be at least {}: the kernel computes 16 images at a time", kLeastImagesInLanes);
}

std::string why_not(const PlanRequest& request, const Kernel& kernel, const ConvChoice& choice) {
  const PlanOptions& options = request.options;
  if (!precise_enough(kernel, options.math)) {
    return fmt::format("{} is less precise than {}", name_of(kernel.info.math), name_of(options.math));
  }
  Refusal refusal = why_not_for_format(request, kernel, choice.step.input_format);
  if (!refusal) refusal = kernel.refuses(choice.step, request.caps);
  if (refusal) return refuse_in_all_formats(kernel, choice.step, request.caps).value_or(*refusal);
  if (!options.kernel.empty()) return fmt::format("supported, but {} was requested", options.kernel);
  if (request.chosen != nullptr) {
    return fmt::format("supported, but {} selects {}", options.choices->place, choice.kernel->info.name);
  }
  if (kernel.info.library) return "supported, but a library must be requested by name";
  return fmt::format("supported, but {} is preferred", choice.kernel->info.name);
}

/// Returns the part of the convolution that this kernel computes, with output in `y_format` if possible. Otherwise
/// returns nullopt and sets `refusal`.
std::optional<ConvStep> step_by(const PlanRequest& request, const Kernel& kernel, const FusedConv& fused,
                                Format x_format, Format y_format, Refusal& refusal) {
  std::vector<Format> inputs{x_format};
  if (x_format == kRawPixels) inputs.push_back(kNchw);
  std::vector<Epilogue> parts{fused.step.epilogue, {.bias = fused.step.epilogue.bias}, {}};
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  for (const Epilogue& part : parts) {
    for (const Format input : inputs) {
      for (const Format output : {y_format, kNchw}) {
        if (output.order != Order::nchw && (output != kernel.format || part != fused.step.epilogue)) continue;
        const ConvStep step{fused.step.problem, part, input, output};
        refusal = kernel.refuses(step, request.caps);
        if (!refusal) return step;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<const Kernel*> candidates(const DeviceCaps& caps, const PlanOptions& options) {
  if (!options.kernel.empty()) {
    const Kernel& kernel = require_conv_kernel(options.kernel, caps.kind);
    if (!precise_enough(kernel, options.math)) {
      throw bad_input("kernel {} computes in {}, which is less precise than {}; set math to {}", kernel.info.name,
                      name_of(kernel.info.math), name_of(options.math), name_of(kernel.info.math));
    }
    return {&kernel};
  }
  std::vector<const Kernel*> result;
  for (const Kernel& kernel : conv_kernels()) {
    const bool absent = kernel.absent != nullptr && kernel.absent();
    if (kernel.info.device == caps.kind && precise_enough(kernel, options.math) && !kernel.info.library && !absent) {
      result.push_back(&kernel);
    }
  }
  std::ranges::sort(result, [](const Kernel* a, const Kernel* b) { return comes_before(a->info, b->info); });
  return result;
}

std::vector<const Kernel*> kernels_for(const PlanRequest& request, const FusedConv& fused, size_t place) {
  if (request.chosen == nullptr) return request.candidates;
  const std::string problem = to_text(fused.step.problem);
  const std::vector<KernelChoice>& choices = request.chosen->kernels;
  if (place >= choices.size()) {
    throw bad_input("{}: no kernel for '{}' ({}): the plan has only {} convolutions; tune again",
                    request.options.choices->at(request.chosen->line), fused.conv_name, problem, choices.size());
  }
  const KernelChoice& choice = choices[place];
  const std::string line = request.options.choices->at(choice.line);
  if (choice.problem != problem) {
    throw bad_input("{}: problem of '{}' is {} in the file and {} in the model; tune again", line, choice.step,
                    choice.problem, problem);
  }
  const auto found =
      std::ranges::find(request.candidates, choice.kernel, [](const Kernel* kernel) { return kernel->info.name; });
  if (found == request.candidates.end()) {
    throw bad_input("{}: kernel {} for '{}' is not available on {} in {} on this machine; tune again", line,
                    choice.kernel, choice.step, name_of(request.caps.kind), name_of(request.options.math));
  }
  return {*found};
}

void require_chosen_step(const PlanRequest& request, const std::string& name, size_t place) {
  if (request.chosen == nullptr) return;
  const KernelChoice& choice = request.chosen->kernels[place];
  if (choice.step == printable(name)) return;
  throw bad_input("{}: expected step '{}', got '{}'; tune again", request.options.choices->at(choice.line),
                  printable(name), choice.step);
}

ConvChoice choose(const PlanRequest& request, const FusedConv& fused, size_t place, Format x_format) {
  const Format y_format = format_for_readers(request, fused.output);
  const bool named = !request.options.kernel.empty() || request.chosen != nullptr;
  std::optional<ConvChoice> choice;
  std::string refusals;
  for (const Kernel* kernel : kernels_for(request, fused, place)) {
    Refusal refusal = why_not_for_format(request, *kernel, x_format);
    if (refusal && !named) continue;
    if (refusal) {
      refusal =
          refuse_in_all_formats(*kernel, ConvStep{.problem = fused.step.problem}, request.caps).value_or(*refusal);
    }
    const std::optional<ConvStep> step =
        refusal ? std::nullopt : step_by(request, *kernel, fused, x_format, y_format, refusal);
    if (!step) {
      refusals += fmt::format("{}{}: {}", refusals.empty() ? "" : "; ", kernel->info.name, *refusal);
    } else if (!choice) {
      choice = ConvChoice{kernel, *step, {kernel}};
    } else if (*step == choice->step) {
      choice->fitting.push_back(kernel);
    }
  }
  if (choice) return *std::move(choice);
  const std::string& model = request.graph.name;
  const std::string text = fmt::format("node '{}' (Conv, {}): ", fused.conv_name, to_text(fused.step.problem));
  if (!request.options.kernel.empty()) {
    throw in_file(model, bad_input("{}not supported by the requested kernel: {}", text, refusals));
  }
  if (request.chosen != nullptr) {
    throw bad_input("{}: {}: {}not supported by the file's kernel: {}; tune again",
                    request.options.choices->at(request.chosen->kernels[place].line), model, text, refusals);
  }
  throw in_file(model, unavailable("{}no kernel on {} supports it in {}: {}", text, name_of(request.caps.kind),
                                   name_of(request.options.math), refusals.empty() ? "no candidates" : refusals));
}

std::vector<Refused> refused_besides(const PlanRequest& request, const ConvChoice& choice) {
  std::vector<Refused> result;
  for (const Kernel& kernel : conv_kernels()) {
    if (kernel.info.device == request.caps.kind && &kernel != choice.kernel) {
      result.push_back({kernel.info.name, why_not(request, kernel, choice)});
    }
  }
  return result;
}

}  // namespace convlab
