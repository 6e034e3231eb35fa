#include "convlab/plan/chain.h"

#include <optional>

#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Whether neighbouring windows share rows of a map. A kernel computes a map in bands of rows, for its caches and its threads:
/// if it pooled, each band would compute once more what it shares with the next, which costs more than to write the rows and
/// pool them in a step of its own.
bool windows_share_rows(const Pool& pool, int64_t height) {
  return (pool.kernel_h - 1) * pool.dilation_h + 1 > pool.stride_h && pool.output_h(height) > 1;
}

}  // namespace

std::string Chain::name_with(const Epilogue& epilogue) const {
  std::string name = conv_name;
  if (epilogue.pool) name += "+" + pool_name;
  if (epilogue.activation.kind != ActivationKind::none) name += "+" + activation_name;
  return name;
}

Chain chain_from(const PlanRequest& request, size_t conv) {
  const Node& node = request.graph.nodes[conv];
  Chain chain{.output = node.output, .nodes = {conv}, .conv_name = node.name};
  chain.step.problem =
      conv_problem(std::get<ConvOp>(node.op), request.shape_of(node.inputs[0]), request.shape_of(node.inputs[1]));
  Epilogue& epilogue = chain.step.epilogue;
  epilogue.bias = node.inputs.size() > 2;
  if (request.options.mode == PlanMode::layers) return chain;
  while (const std::optional<size_t> at = request.readers.only(chain.output)) {
    const Node& next = request.graph.nodes[*at];
    const bool activates = epilogue.activation.kind != ActivationKind::none;
    if (const auto* pool = std::get_if<PoolOp>(&next.op); pool != nullptr && !epilogue.pool) {
      const Pool resolved = resolved_pool(*pool, request.shape_of(chain.output));
      if (windows_share_rows(resolved, request.shape_of(chain.output)[2])) break;
      // The largest of never decreasing functions is the function of the largest.
      if (activates && (resolved.kind != PoolKind::max || !epilogue.activation.monotonic())) break;
      epilogue.pool = resolved;
      chain.pool_name = next.name;
    } else if (const auto* op = std::get_if<ActivationOp>(&next.op); op != nullptr && !activates) {
      epilogue.activation = op->activation;
      chain.activation_name = next.name;
    } else {
      break;
    }
    chain.output = next.output;
    chain.nodes.push_back(*at);
  }
  return chain;
}

}  // namespace convlab
