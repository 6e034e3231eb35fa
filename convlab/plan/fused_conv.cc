// Fuses a convolution with the nodes after it.

#include "convlab/plan/fused_conv.h"

#include <optional>

#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Whether adjacent windows share rows of a feature map. A kernel computes an output channel in bands of rows, for its
/// caches and threads. If it pooled, each band would recompute the rows that it shares with the next one, which costs
/// more than writing the rows and pooling them in a separate step.
bool windows_share_rows(const Pool& pool, int64_t height) {
  return (pool.kernel_h - 1) * pool.dilation_h + 1 > pool.stride_h && pool.output_h(height) > 1;
}

}  // namespace

std::string FusedConv::name_with(const Epilogue& epilogue) const {
  std::string name = conv_name;
  if (epilogue.pool) name += "+" + pool_name;
  if (step.adds) name += "+" + added_name;
  if (epilogue.activation.kind != ActivationKind::none) name += "+" + activation_name;
  return name;
}

FusedConv fused_conv_from(const PlanRequest& request, size_t conv) {
  const Node& node = request.graph.nodes[conv];
  FusedConv fused{.output = node.output, .nodes = {conv}, .conv_name = node.name};
  fused.step.problem =
      conv_problem(std::get<ConvOp>(node.op), request.shape_of(node.inputs[0]), request.shape_of(node.inputs[1]));
  Epilogue& epilogue = fused.step.epilogue;
  epilogue.bias = node.inputs.size() > 2;
  if (request.options.mode == PlanMode::layers) return fused;
  while (const std::optional<size_t> at = request.readers.only(fused.output)) {
    const Node& next = request.graph.nodes[*at];
    const bool activates = epilogue.activation.kind != ActivationKind::none;
    if (const auto* pool = std::get_if<PoolOp>(&next.op); pool != nullptr && !epilogue.pool) {
      const Pool resolved = resolved_pool(*pool, request.shape_of(fused.output));
      if (windows_share_rows(resolved, request.shape_of(fused.output)[2])) break;
      // For non-decreasing functions, the maximum of the results is the function of the maximum.
      if (activates && (resolved.kind != PoolKind::max || !epilogue.activation.monotonic())) break;
      epilogue.pool = resolved;
      fused.pool_name = next.name;
    } else if (const auto* op = std::get_if<ActivationOp>(&next.op); op != nullptr && !activates) {
      epilogue.activation = op->activation;
      fused.activation_name = next.name;
    } else {
      break;
    }
    fused.output = next.output;
    fused.nodes.push_back(*at);
  }
  return fused;
}

}  // namespace convlab
