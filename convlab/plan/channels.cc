// Plans that keep channels in nchw8c or nhwc between steps: their layout, fused convolutions and concatenation.

#include "convlab/plan/channels.h"

#include <algorithm>
#include <set>

#include "convlab/kernels/cpu/bf16.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Returns the activation of a node that kernels of these layouts can fuse with a convolution.
std::optional<Activation> activation_of(const Op& op) {
  if (const auto* activation = std::get_if<ActivationOp>(&op)) return activation->activation;
  const auto* unary = std::get_if<UnaryOp>(&op);
  if (unary == nullptr) return std::nullopt;
  if (unary->kind == UnaryKind::hard_swish) return Activation{ActivationKind::hard_swish};
  if (unary->kind == UnaryKind::swish && unary->alpha == 1) return Activation{ActivationKind::swish};
  return std::nullopt;
}

/// Returns the other operand if the node adds another value of the same shape.
std::optional<ValueId> added_to(const PlanRequest& request, const Node& node, ValueId value) {
  if (!std::holds_alternative<AddOp>(node.op)) return std::nullopt;
  const ValueId other = node.inputs[node.inputs[0] == value ? 1 : 0];
  if (other == value || request.shape_of(other) != request.shape_of(value)) return std::nullopt;
  return other;
}

bool joins_channels(const PlanRequest& request, const Node& node) {
  const auto* concat = std::get_if<ConcatOp>(&node.op);
  if (concat == nullptr || !keeps(request, request.shape_of(node.output))) return false;
  if (concat->axis != 1 && concat->axis != -3) return false;
  return std::ranges::all_of(node.inputs, [&](ValueId input) { return fits_channels(request.shape_of(input)); });
}

}  // namespace

bool fits_channels(const Shape& shape) { return shape.size() == 4 && shape[1] > 0 && shape[1] % kChannelLanes == 0; }

Format channel_format(const PlanRequest& request) {
  const PlanOptions& options = request.options;
  if (options.mode == PlanMode::layers || request.images() == 0) return kNchw;
  Format format = kNchw;
  if (request.caps.runs_cuda()) {
    format = options.math == Math::fp16 ? kNhwcF16 : kNhwc;
  } else if (options.math == Math::bf16 && has_unit(Bf16Unit::avx512_bf16)) {
    format = kNhwcBf16;
  } else if (options.math == Math::fp32 || options.math == Math::bf16) {
    format = kNchw8c;  // without a bf16x2 instruction, fp32 sums are faster
  }
  const auto knows = [format](const Kernel* kernel) { return kernel->format == format; };
  return std::ranges::any_of(request.candidates, knows) ? format : kNchw;
}

bool keeps_channels(const PlanRequest& request) {
  if (channel_format(request).order == Order::nchw) return false;
  double all = 0, wide = 0;
  for (const Node& node : request.graph.nodes) {
    const auto* op = std::get_if<ConvOp>(&node.op);
    if (op == nullptr) continue;
    const ConvProblem problem = conv_problem(*op, request.shape_of(node.inputs[0]), request.shape_of(node.inputs[1]));
    const bool whole = problem.c % kChannelLanes == 0 && problem.k % kChannelLanes == 0;
    all += problem.flops();
    if (whole && std::min(problem.c, problem.k) >= 16) wide += problem.flops();
  }
  return wide > all / 2;
}

FusedConv joined_conv_from(const PlanRequest& request, size_t conv, const std::function<bool(ValueId)>& ready) {
  const Node& node = request.graph.nodes[conv];
  FusedConv fused{.output = node.output, .nodes = {conv}, .conv_name = node.name};
  fused.step.problem =
      conv_problem(std::get<ConvOp>(node.op), request.shape_of(node.inputs[0]), request.shape_of(node.inputs[1]));
  fused.step.epilogue.bias = node.inputs.size() > 2;
  while (const std::optional<size_t> at = request.readers.only(fused.output)) {
    const Node& next = request.graph.nodes[*at];
    const std::optional<ValueId> added = added_to(request, next, fused.output);
    if (added && !fused.step.adds && ready(*added)) {
      fused.step.adds = true;
      fused.added = *added;
      fused.added_name = next.name;
      fused.output = next.output;
      fused.nodes.push_back(*at);
      continue;
    }
    if (const std::optional<Activation> activation = activation_of(next.op)) {
      fused.step.epilogue.activation = *activation;
      fused.activation_name = next.name;
      fused.output = next.output;
      fused.nodes.push_back(*at);
    }
    break;
  }
  return fused;
}

std::optional<FusedConv> pooled_conv(const PlanRequest& request, FusedConv fused) {
  const std::optional<size_t> at = request.readers.only(fused.output);
  const auto* pool = at ? std::get_if<PoolOp>(&request.graph.nodes[*at].op) : nullptr;
  if (pool == nullptr || fused.step.adds) return std::nullopt;
  const Pool resolved = resolved_pool(*pool, request.shape_of(fused.output));
  if (resolved.kind != PoolKind::max || !fused.step.epilogue.activation.monotonic()) return std::nullopt;
  const Node& node = request.graph.nodes[*at];
  fused.step.epilogue.pool = resolved;
  fused.pool_name = node.name;
  fused.output = node.output;
  fused.nodes.push_back(*at);
  return fused;
}

std::optional<ConvChoice> choose_to_channels(const PlanRequest& request, const std::vector<const Kernel*>& kernels,
                                             const FusedConv& fused, Format x_format) {
  ConvStep step = fused.step;
  step.input_format = x_format;
  const Shape y = step.output_shape();
  const bool plain = one_pixel(y) && (request.channels.order == Order::nhwc || !fits_channels(y));
  step.output_format = plain ? kNchw : request.channels;
  // Images of one pixel are nchw in any plan.
  const bool only_plain = plain && x_format.order == Order::nchw;
  std::vector<const Kernel*> fitting;
  for (const Kernel* kernel : kernels) {
    const bool knows = kernel->format == request.channels || (only_plain && kernel->format.order != Order::nchw);
    if (knows && !kernel->refuses(step, request.caps)) fitting.push_back(kernel);
  }
  if (fitting.empty()) return std::nullopt;
  return ConvChoice{fitting.front(), step, fitting};
}

std::map<ValueId, JointPlace> joint_places(const PlanRequest& request) {
  const Graph& graph = request.graph;
  std::set<ValueId> computed;  // outputs of nodes that are not aliases
  for (const Node& node : graph.nodes) {
    if (!is_alias(node.op)) computed.insert(node.output);
  }
  std::map<ValueId, JointPlace> places;
  for (auto place = graph.nodes.rbegin(); place != graph.nodes.rend(); ++place) {
    const Node& node = *place;
    if (!joins_channels(request, node)) continue;
    const auto first = places.find(node.inputs[0]);
    JointPlace next{node.output, 0};
    if (const auto own = places.find(node.output); own != places.end()) {
      next = own->second;
    } else if (first != places.end()) {
      // All inputs may be adjacent parts of another Concat's output.
      JointPlace at = first->second;
      const bool part = std::ranges::all_of(node.inputs, [&](ValueId input) {
        const auto place = places.find(input);
        const bool there =
            place != places.end() && place->second.joint == at.joint && place->second.channel == at.channel;
        at.channel += request.shape_of(input)[1];
        return there;
      });
      if (part) next = first->second;
    }
    places.emplace(node.output, next);
    for (const ValueId input : node.inputs) {
      if (computed.contains(input)) places.emplace(input, next);
      next.channel += request.shape_of(input)[1];
    }
  }
  return places;
}

}  // namespace convlab
