// The pass that chooses kernels, and explains why others are not used.

#include "convlab/plan/choose.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/kernels/format_refusal.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/select.h"
#include "convlab/kernels/step_text.h"
#include "convlab/plan/candidates.h"

namespace convlab {
namespace {

/// Throws, for example, "not supported on cuda: LayerNorm (node '/blocks.0/norm'); 12 more nodes (Erf, LayerNorm);
/// help: use device cpu".
void require_kernels(const PlanRequest& request, const Draft& draft) {
  std::vector<const DraftStep*> without;
  for (const DraftStep& step : draft.steps) {
    if (step.kernels.empty()) without.push_back(&step);
  }
  if (without.empty()) return;
  const DraftStep& first = *without[0];
  const std::string why = why_unsupported(first.what, request.caps, request.options.math);
  const DeviceKind device = request.caps.kind;
  Finding finding{.kind = "unsupported node",
                  .text = fmt::format("not supported on {}: {} (node '{}'){}{}", name_of(device),
                                      name_of(first.what.op), printable(first.name), why.empty() ? "" : ": ", why),
                  .help = device == DeviceKind::cpu ? "" : "use device cpu"};
  if (without.size() > 1) {
    std::set<std::string> kinds;
    for (size_t i = 1; i < without.size(); ++i) kinds.insert(name_of(without[i]->what.op));
    finding.notes.push_back(
        fmt::format("{} more node{} ({})", without.size() - 1, without.size() > 2 ? "s" : "", fmt::join(kinds, ", ")));
  }
  throw in_file(request.graph.name, FindingError(ErrorKind::unavailable, finding));
}

/// Throws Error(bad_input) unless options.choices are for the convolutions of this draft.
void require_same_convolutions(const PlanRequest& request, const Draft& draft) {
  if (request.chosen == nullptr) return;
  const std::vector<KernelChoice>& choices = request.chosen->kernels;
  size_t convolutions = 0;
  for (const DraftStep& step : draft.steps) {
    if (!is_conv(step.what)) continue;
    const KernelChoice& choice = choices[convolutions++];
    if (choice.step == printable(step.name)) continue;
    throw bad_input("{}: expected step '{}', got '{}'; tune again", request.options.choices->at(choice.line),
                    printable(step.name), choice.step);
  }
  if (choices.size() == convolutions) return;
  throw bad_input("{}: the file has {} convolutions and the model has {}; tune again",
                  request.options.choices->at(request.chosen->line), choices.size(), convolutions);
}

/// Takes the kernels of options.choices for steps other than convolutions: those of the file are for some of the plan's
/// steps, in its order.
class OtherChoices {
 public:
  explicit OtherChoices(const PlanRequest& request) : request_(request) {}

  /// Sets the step's kernel if the next choice is for this step.
  void apply(PlanStep& step) {
    const bool left = request_.chosen != nullptr && used_ < request_.chosen->others.size();
    const KernelChoice* choice = left ? &request_.chosen->others[used_] : nullptr;
    if (choice == nullptr || choice->step != printable(step.name) || choice->problem != problem_text(step.what)) return;
    ++used_;
    const Kernel* const kernel = find_named(step.fitting, choice->kernel);
    if (kernel == nullptr) {
      throw bad_input("{}: kernel {} for '{}' is not available on {} on this machine; tune again",
                      request_.options.choices->at(choice->line), choice->kernel, choice->step,
                      name_of(request_.caps.kind));
    }
    step.kernel = kernel;
    step.choice = choice;
  }

  /// Throws Error(bad_input) unless all choices were for steps of the plan.
  void require_all_used() const {
    if (request_.chosen == nullptr || used_ == request_.chosen->others.size()) return;
    const KernelChoice& choice = request_.chosen->others[used_];
    throw bad_input("{}: the model has no step '{}' ({}) here; tune again", request_.options.choices->at(choice.line),
                    choice.step, choice.problem);
  }

 private:
  const PlanRequest& request_;
  size_t used_ = 0;
};

std::string why_not(const PlanRequest& request, const Kernel& kernel, const DraftStep& step) {
  const PlanOptions& options = request.options;
  if (kernel.info.math > options.math) {
    return fmt::format("{} is less precise than {}", name_of(kernel.info.math), name_of(options.math));
  }
  Refusal refusal = why_not_for_format(request, kernel, step.what.inputs[0].format);
  if (!refusal) refusal = kernel.refuses(step.what, request.caps);
  if (refusal) return refuse_in_all_formats(kernel, step.what, request.caps).value_or(*refusal);
  if (!options.kernel.empty()) return fmt::format("supported, but {} was requested", options.kernel);
  const std::string_view preferred = step.kernels[0]->info.name;
  if (request.chosen != nullptr) return fmt::format("supported, but {} selects {}", options.choices->place, preferred);
  if (kernel.info.library) return "supported, but a library must be requested by name";
  return fmt::format("supported, but {} is preferred", preferred);
}

/// Returns why each other convolution kernel of the device does not compute this step, in the registry's order.
std::vector<Refused> refused_besides(const PlanRequest& request, const DraftStep& step) {
  std::vector<Refused> result;
  for (const Kernel& kernel : conv_kernels()) {
    if (kernel.info.device != request.caps.kind || &kernel == step.kernels[0]) continue;
    result.push_back({kernel.info.name, why_not(request, kernel, step)});
  }
  return result;
}

}  // namespace

Plan choose(const PlanRequest& request, const Draft& draft) {
  require_kernels(request, draft);
  require_same_convolutions(request, draft);
  Plan plan{.options = request.options, .device = request.caps.kind, .channel_lanes = request.keeps_channels()};
  for (const GraphInput& input : request.graph.inputs) plan.inputs.push_back(request.shape_of(input.value));
  for (const GraphOutput& output : request.graph.outputs) plan.outputs.push_back(request.shape_of(output.value));
  OtherChoices others(request);
  size_t convolutions = 0;
  for (const DraftStep& each : draft.steps) {
    PlanStep step{.name = each.name, .what = each.what, .kernel = each.kernels[0], .fitting = each.kernels};
    if (step.is_conv()) {
      step.refused = refused_besides(request, each);
      if (request.chosen != nullptr) step.choice = &request.chosen->kernels[convolutions++];
    } else {
      others.apply(step);
    }
    step.prepared_bytes = prepared_bytes(*step.kernel, step.what, request.caps);
    step.workspace_bytes = workspace_bytes(*step.kernel, step.what, request.caps);
    plan.steps.push_back(std::move(step));
  }
  others.require_all_used();
  return plan;
}

}  // namespace convlab
