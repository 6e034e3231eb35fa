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

}  // namespace

std::string_view PlanStep::kernel_name() const { return conv != nullptr ? conv->info.name : op->info.name; }

std::string PlanStep::op_name() const {
  if (const ConvStep* step = conv_step()) {
    const std::string after = to_text(step->epilogue);
    return std::string("Conv") + (step->adds ? "+add" : "") + (after.empty() ? "" : "+") + after;
  }
  const Step& step = *op_step();
  const auto* activation = std::get_if<ActivationOp>(&step.op);
  if (activation != nullptr && activation->activation.kind == ActivationKind::none) {
    return step.inputs[0].format == kRawPixels ? "Convert" : "Copy";
  }
  const std::string name = name_of(step.op);
  const Activation& after = step.epilogue.activation;
  return after.kind == ActivationKind::none ? name : name + "+" + to_text(after);
}

double PlanStep::flops() const {
  if (const ConvStep* step = conv_step()) return step->problem.flops();
  const Step& step = *op_step();
  const auto outputs = static_cast<double>(element_count(step.outputs[0].shape));
  if (const auto* gemm = std::get_if<GemmOp>(&step.op)) {
    return 2 * outputs * static_cast<double>(step.inputs[0].shape[gemm->transpose_a ? 0 : 1]);
  }
  if (std::holds_alternative<MatMulOp>(step.op)) return 2 * outputs * static_cast<double>(step.inputs[0].shape.back());
  return 0;
}

std::string to_text(const Plan& plan) {
  std::string text =
      fmt::format("plan {} on {}: {} {} -> {}, arena {} bytes\n", name_of(plan.options.mode), name_of(plan.device),
                  name_of(plan.options.input), listed(plan.inputs), listed(plan.outputs), plan.arena_bytes);
  for (const PlanStep& step : plan.steps) {
    std::string inputs;
    for (const Location& input : step.inputs) inputs += (inputs.empty() ? "" : ", ") + text_of(input);
    const ConvStep* conv = step.conv_step();
    const Shape& shape = conv != nullptr ? conv->output_shape() : step.op_step()->outputs[0].shape;
    const Format format = conv != nullptr ? conv->output_format : step.op_step()->outputs[0].format;
    text += fmt::format("  {}: {}{} by {}: {} -> {} {}{}", step.name, step.op_name(),
                        conv != nullptr ? " " + to_text(conv->problem) : "", step.kernel_name(), inputs,
                        text_of(step.output), to_text(shape),
                        format.order == Order::nchw ? "" : fmt::format(", in {}", name_of(format)));
    if (step.prepared_bytes != 0) text += fmt::format(", prepared {} bytes", step.prepared_bytes);
    if (step.workspace_bytes != 0) {
      text += fmt::format(", workspace arena {} of {} bytes", step.workspace_at, step.workspace_bytes);
    }
    text += '\n';
    for (const Refused& refused : step.refused) {
      text += fmt::format("    {} not used: {}\n", refused.kernel, refused.reason);
    }
  }
  return text;
}

}  // namespace convlab
