#include "convlab/rewrite/readers.h"

#include "convlab/rewrite/evaluate.h"

namespace convlab {

std::vector<size_t> readers_of(const Graph& graph, ValueId value) {
  std::vector<size_t> readers;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ValueId input : graph.nodes[i].inputs) {
      if (input == value) readers.push_back(i);
    }
  }
  return readers;
}

std::optional<size_t> only_reader(const Graph& graph, ValueId value) {
  if (value == graph.output) return std::nullopt;
  const std::vector<size_t> readers = readers_of(graph, value);
  return readers.size() == 1 ? std::optional(readers[0]) : std::nullopt;
}

bool is_alias(const Op& op) {
  const auto* activation = std::get_if<ActivationOp>(&op);
  return only_reshapes(op) || (activation != nullptr && activation->activation.kind == ActivationKind::none);
}

ValueId root_of(const Graph& graph, ValueId value) {
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    if (graph.nodes[i].output == value && is_alias(graph.nodes[i].op)) value = graph.nodes[i].inputs[0];
  }
  return value;
}

}  // namespace convlab
