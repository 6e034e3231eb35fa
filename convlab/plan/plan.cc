// Names the steps of a plan, and prints a plan as text.

#include "convlab/plan/plan.h"

namespace convlab {
namespace {

std::string listed(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : ", ") + convlab::to_text(shape);
  return text;
}

/// Returns "input" for number 0, "input 1" for number 1.
std::string numbered(const char* what, int64_t number) {
  return number == 0 ? what : fmt::format("{} {}", what, number);
}

std::string text_of(const Location& location) {
  switch (location.place) {
    case Location::Place::input:
      return numbered("input", location.at);
    case Location::Place::output:
      return numbered("output", location.at);
    case Location::Place::constant:
      return fmt::format("constant {}", location.at);
    case Location::Place::arena:
      return fmt::format("arena {}", location.at);
  }
  return "?";
}

std::string listed(const std::vector<Location>& locations) {
  std::string text;
  for (const Location& each : locations) text += (text.empty() ? "" : ", ") + text_of(each);
  return text;
}

std::string workspace_text(const PlanStep& step) {
  if (step.workspace_bytes == 0) return "";
  return fmt::format(", workspace arena {} of {} bytes", step.workspace_at, step.workspace_bytes);
}

}  // namespace

std::string PlanStep::op_name() const {
  if (is_conv()) {
    const std::string after = to_text(what.epilogue);
    return std::string("Conv") + (conv_step(what).adds ? "+add" : "") + (after.empty() ? "" : "+") + after;
  }
  const auto* activation = std::get_if<ActivationOp>(&what.op);
  if (activation != nullptr && activation->activation.kind == ActivationKind::none) {
    return what.inputs[0].format == kRawPixels ? "Convert" : "Copy";
  }
  const std::string name = name_of(what.op);
  const Activation& after = what.epilogue.activation;
  return after.kind == ActivationKind::none ? name : name + "+" + to_text(after);
}

std::string locations_text(const Plan& plan) {
  std::string text;
  for (const PlanStep& step : plan.steps) {
    text += fmt::format("  {}: {} -> {}", step.name, listed(step.inputs), text_of(step.output));
    text += workspace_text(step) + '\n';
  }
  return text;
}

std::string to_text(const Plan& plan) {
  std::string text =
      fmt::format("plan {} on {}: {} {} -> {}, arena {} bytes\n", name_of(plan.options.mode), name_of(plan.device),
                  name_of(plan.options.input), listed(plan.inputs), listed(plan.outputs), plan.arena_bytes);
  for (const PlanStep& step : plan.steps) {
    const Operand& y = step.what.outputs[0];
    text += fmt::format("  {}: {}{} by {}: {} -> {} {}{}", step.name, step.op_name(),
                        step.is_conv() ? " " + to_text(conv_step(step.what).problem) : "", step.kernel->info.name,
                        listed(step.inputs), text_of(step.output), to_text(y.shape),
                        y.format.order == Order::nchw ? "" : fmt::format(", in {}", name_of(y.format)));
    if (step.prepared_bytes != 0) text += fmt::format(", prepared {} bytes", step.prepared_bytes);
    text += workspace_text(step) + '\n';
    for (const Refused& refused : step.refused) {
      text += fmt::format("    {} not used: {}\n", refused.kernel, refused.reason);
    }
  }
  return text;
}

}  // namespace convlab
