// Finds squeeze-and-excitation for one fused step.

#include "convlab/plan/squeeze_excite.h"

#include "convlab/kernels/ops/channels/channel_op.h"
#include "convlab/plan/channels.h"

namespace convlab {
namespace {

/// Extends the gate by the next convolution of one-pixel images, with its bias and the activation after it. Returns
/// false if that does not come next.
bool take_product(const PlanRequest& request, SqueezeExcite& gate, Activation& activation) {
  const std::optional<size_t> place = request.readers.only(gate.output);
  if (!place || !std::holds_alternative<ConvOp>(request.graph.nodes[*place].op)) return false;
  const auto none_ready = [](ValueId) { return false; };
  const FusedConv conv = joined_conv_from(request, *place, none_ready);
  const ConvProblem& problem = conv.step.problem;
  if (problem.groups != 1 || !one_pixel(problem.filter_shape()) || !one_pixel(problem.output_shape())) return false;
  if (problem.pad_top != 0 || problem.pad_left != 0) return false;
  if (!conv.step.epilogue.bias) return false;
  const std::vector<ValueId>& inputs = request.graph.nodes[*place].inputs;
  gate.inputs.insert(gate.inputs.end(), {inputs[1], inputs[2]});
  gate.nodes.insert(gate.nodes.end(), conv.nodes.begin(), conv.nodes.end());
  gate.name += "+" + conv.name_with(conv.step.epilogue);
  gate.output = conv.output;
  activation = conv.step.epilogue.activation;
  return true;
}

}  // namespace

std::optional<SqueezeExcite> squeeze_excite_from(const PlanRequest& request, size_t mean) {
  const Node& first = request.graph.nodes[mean];
  const bool fuses = request.options.mode != PlanMode::layers;
  if (!fuses || !is_mean_of_maps(first.op, request.shape_of(first.inputs[0]))) return std::nullopt;
  const ValueId x = first.inputs[0];
  SqueezeExcite gate{.inputs = {x}, .output = first.output, .nodes = {mean}, .name = first.name};
  const bool gates = take_product(request, gate, gate.op.squeeze) && take_product(request, gate, gate.op.excite);
  if (!gates) return std::nullopt;

  const std::optional<size_t> place = request.readers.only(gate.output);
  if (!place) return std::nullopt;
  const Node& last = request.graph.nodes[*place];
  const bool scales = std::holds_alternative<MulOp>(last.op) &&
                      (last.inputs == std::vector{x, gate.output} || last.inputs == std::vector{gate.output, x});
  if (!scales || request.shape_of(last.output) != request.shape_of(x)) return std::nullopt;
  gate.nodes.push_back(*place);
  gate.name += "+" + last.name;
  gate.output = last.output;
  return gate;
}

}  // namespace convlab
