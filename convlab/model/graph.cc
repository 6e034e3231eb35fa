// Copies graphs, drops unused nodes, and infers shapes.

#include "convlab/model/graph.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "convlab/base/error.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/model/graph_limits.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Whether a shape matches `wanted`, in which -1 is any size.
bool fits(const Shape& wanted, const Shape& shape) {
  return std::ranges::equal(wanted, shape,
                            [](int64_t want, int64_t size) { return size >= 1 && (want == -1 || want == size); });
}

/// Returns the name of an input's size along this axis if it is dynamic; nullopt if it is fixed.
std::optional<std::string> open_name(const GraphInput& input, size_t axis) {
  if (axis >= input.shape.size() || input.shape[axis] != -1) return std::nullopt;
  return axis < input.size_names.size() ? input.size_names[axis] : "";
}

/// Describes two inputs that differ in a dynamic size of one name, or in a first size without a name, which is usually
/// the batch size. Returns "" if there are none.
std::string differing_sizes(const Graph& graph, InputShapes inputs) {
  struct Size {
    std::string name;
    size_t input;
    int64_t size;
  };
  std::vector<Size> seen;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t axis = 0; axis < inputs[i].size(); ++axis) {
      const std::optional<std::string> name = open_name(graph.inputs[i], axis);
      if (!name || (name->empty() && axis > 0)) continue;
      const Size own{*name, i, inputs[i][axis]};
      const auto other = std::ranges::find(seen, own.name, &Size::name);
      if (other == seen.end()) {
        seen.push_back(own);
      } else if (other->size != own.size) {
        return fmt::format("inputs '{}' and '{}' have different sizes {}: {} and {}",
                           graph.name_of(graph.inputs[other->input]), graph.name_of(graph.inputs[i]),
                           own.name.empty() ? "of the batch" : fmt::format("'{}'", own.name), other->size, own.size);
      }
    }
  }
  return "";
}

/// Returns the index of a node's first input that must be a constant, or SIZE_MAX if none must.
size_t first_constant_input(const Op& op) {
  if (std::holds_alternative<ConvOp>(op) || std::holds_alternative<BatchNormOp>(op)) return 1;
  return SIZE_MAX;
}

}  // namespace

std::string to_text(const GraphInput& input) {
  const bool named = std::ranges::any_of(input.size_names, [](const std::string& name) { return !name.empty(); });
  std::vector<std::string> sizes;
  for (size_t axis = 0; axis < input.shape.size(); ++axis) {
    const std::optional<std::string> name = open_name(input, axis);
    sizes.push_back(!name ? std::to_string(input.shape[axis]) : name->empty() ? "?" : *name);
  }
  return sizes.empty() ? "scalar" : fmt::format("{}", fmt::join(sizes, named ? " x " : "x"));
}

Graph Graph::clone() const {
  Graph copy{.name = name,
             .value_names = value_names,
             .nodes = nodes,
             .inputs = inputs,
             .outputs = outputs,
             .metadata = metadata,
             .whole_types = whole_types,
             .whole_constants = whole_constants};
  for (const auto& [value, tensor] : constants) copy.constants.emplace(value, tensor.clone());
  return copy;
}

void Graph::share_elements() {
  for (auto& [value, tensor] : constants) tensor.share_elements();
}

void drop_unused(Graph& graph) {
  std::unordered_set<ValueId> used;
  for (const GraphOutput& output : graph.outputs) used.insert(output.value);
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (!used.contains(node->output)) continue;
    used.insert(node->inputs.begin(), node->inputs.end());
    kept.push_back(std::move(*node));
  }
  std::ranges::reverse(kept);
  graph.nodes = std::move(kept);
  std::erase_if(graph.constants, [&](const auto& constant) { return !used.contains(constant.first); });
  std::erase_if(graph.whole_constants, [&](const auto& constant) { return !used.contains(constant.first); });
  if (std::ranges::none_of(graph.inputs, [&](const GraphInput& input) { return used.contains(input.value); })) {
    throw bad_input("no output depends on any input");
  }
}

/// infer_shapes(), with errors that do not name the graph.
static std::vector<Shape> shapes_of(const Graph& graph, InputShapes inputs) {
  const size_t values = graph.value_names.size();
  const auto known = [&](ValueId value) { return value >= 0 && static_cast<size_t>(value) < values; };
  const auto all_known = [&](const auto& ends) {
    return !ends.empty() && std::ranges::all_of(ends, [&](const auto& end) { return known(end.value); });
  };
  if (!all_known(graph.inputs) || !all_known(graph.outputs)) throw bad_input("the model has no input or no output");
  if (inputs.size() != graph.inputs.size()) {
    throw bad_input("wrong number of inputs: expected {}, got {}", graph.inputs.size(), inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const GraphInput& input = graph.inputs[i];
    if (inputs[i].size() > kMostRank) {
      throw bad_input("an input has {} dimensions; at most {} are supported", inputs[i].size(), kMostRank);
    }
    if (!fits(input.shape, inputs[i])) {
      throw bad_input("input '{}' must have shape {}, got {}", graph.name_of(input), to_text(input),
                      to_text(inputs[i]));
    }
  }

  std::vector<Shape> shapes(values);
  std::vector<bool> computed(values);
  const auto set = [&](ValueId value, const Shape& shape) {
    if (!known(value) || computed[static_cast<size_t>(value)])
      throw bad_input("output is also produced by another node");
    shapes[static_cast<size_t>(value)] = shape;
    computed[static_cast<size_t>(value)] = true;
  };
  for (const auto& [value, tensor] : graph.constants) set(value, tensor.shape());
  for (size_t i = 0; i < inputs.size(); ++i) set(graph.inputs[i].value, inputs[i]);
  for (const Node& node : graph.nodes) {
    try {
      std::vector<Shape> operands;
      for (ValueId input : node.inputs) {
        if (!known(input) || !computed[static_cast<size_t>(input)]) {
          throw bad_input("input {} is not computed before this node", operands.size());
        }
        if (operands.size() >= first_constant_input(node.op) && !graph.constants.contains(input)) {
          throw bad_input("input {} ('{}') must be a constant, but the model computes it", operands.size(),
                          graph.value_names[static_cast<size_t>(input)]);
        }
        operands.push_back(shapes[static_cast<size_t>(input)]);
      }
      set(node.output, output_shape(node.op, operands));
    } catch (const Error& error) {
      const std::string reason = fmt::format("node '{}' ({}): {}", node.name, name_of(node.op), error.what());
      const std::string cause = differing_sizes(graph, inputs);
      if (cause.empty()) throw bad_input("{}", reason);
      throw FindingError(ErrorKind::bad_input, {.kind = "input sizes", .text = cause, .notes = {reason}});
    }
  }
  for (const GraphOutput& output : graph.outputs) {
    if (!computed[static_cast<size_t>(output.value)]) throw bad_input("no node computes the output");
  }
  return shapes;
}

std::vector<Shape> infer_shapes(const Graph& graph, InputShapes inputs) {
  try {
    return shapes_of(graph, inputs);
  } catch (const Error& error) {
    if (graph.name.empty()) throw;
    throw in_file(graph.name, error);
  }
}

}  // namespace convlab
