// Finds the consumers of each value of a graph.

#include "convlab/rewrite/readers.h"

#include <numeric>

#include "convlab/rewrite/evaluate.h"

namespace convlab {

Readers::Readers(const Graph& graph) : is_output_(graph.value_names.size()), begin_(graph.value_names.size() + 1) {
  for (const GraphOutput& output : graph.outputs) is_output_[static_cast<size_t>(output.value)] = true;
  for (const Node& node : graph.nodes) {
    for (const ValueId input : node.inputs) ++begin_[static_cast<size_t>(input) + 1];
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  places_.resize(begin_.back());
  std::vector<size_t> next(begin_);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ValueId input : graph.nodes[i].inputs) places_[next[static_cast<size_t>(input)]++] = i;
  }
}

std::span<const size_t> Readers::of(ValueId value) const {
  const auto at = static_cast<size_t>(value);
  return std::span(places_).subspan(begin_[at], begin_[at + 1] - begin_[at]);
}

std::optional<size_t> Readers::only(ValueId value) const {
  const std::span<const size_t> readers = of(value);
  return !is_output(value) && readers.size() == 1 ? std::optional(readers[0]) : std::nullopt;
}

void drop_unread_constants(Graph& graph) {
  std::vector<bool> read(graph.value_names.size());
  for (const GraphOutput& output : graph.outputs) read[static_cast<size_t>(output.value)] = true;
  for (const Node& node : graph.nodes) {
    for (const ValueId input : node.inputs) read[static_cast<size_t>(input)] = true;
  }
  const auto unread = [&](const auto& constant) { return !read[static_cast<size_t>(constant.first)]; };
  std::erase_if(graph.constants, unread);
  std::erase_if(graph.whole_constants, unread);
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
