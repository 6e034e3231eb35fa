#include "convlab/plan/chain.h"

#include <optional>

#include "convlab/model/shapes.h"
#include "convlab/rewrite/readers.h"

namespace convlab {

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
  while (const std::optional<size_t> at = only_reader(request.graph, chain.output)) {
    const Node& next = request.graph.nodes[*at];
    const bool activates = epilogue.activation.kind != ActivationKind::none;
    if (const auto* pool = std::get_if<PoolOp>(&next.op); pool != nullptr && !epilogue.pool) {
      const Pool resolved = resolved_pool(*pool, request.shape_of(chain.output));
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
