#include "convlab/model/graph.h"

#include <algorithm>
#include <unordered_set>

#include "convlab/base/error.h"
#include "convlab/model/limits.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;  // clang 14 does not find it by itself

const char* name_of(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::none:
      return "Identity";
    case ActivationKind::relu:
      return "Relu";
    case ActivationKind::leaky_relu:
      return "LeakyRelu";
    case ActivationKind::clip:
      return "Clip";
    case ActivationKind::sigmoid:
      return "Sigmoid";
    case ActivationKind::tanh:
      return "Tanh";
  }
  return "?";
}

/// The first of a node's inputs that must be a constant, or SIZE_MAX if none must.
size_t first_constant_input(const Op& op) {
  if (std::holds_alternative<ConvOp>(op) || std::holds_alternative<BatchNormOp>(op)) return 1;
  return SIZE_MAX;
}

}  // namespace

std::string name_of(const Op& op) {
  return std::visit(Overloaded{
                        [](const ConvOp&) { return "Conv"; },
                        [](const PoolOp& o) { return o.pool.kind == PoolKind::max ? "MaxPool" : "AveragePool"; },
                        [](const GlobalAveragePoolOp&) { return "GlobalAveragePool"; },
                        [](const ActivationOp& o) { return name_of(o.activation.kind); },
                        [](const BatchNormOp&) { return "BatchNormalization"; },
                        [](const GemmOp&) { return "Gemm"; },
                        [](const MatMulOp&) { return "MatMul"; },
                        [](const AddOp&) { return "Add"; },
                        [](const MulOp&) { return "Mul"; },
                        [](const ConcatOp&) { return "Concat"; },
                        [](const FlattenOp&) { return "Flatten"; },
                        [](const ReshapeOp&) { return "Reshape"; },
                        [](const SqueezeOp&) { return "Squeeze"; },
                        [](const UnsqueezeOp&) { return "Unsqueeze"; },
                        [](const TransposeOp&) { return "Transpose"; },
                        [](const SoftmaxOp& o) { return o.log ? "LogSoftmax" : "Softmax"; },
                        [](const PadOp&) { return "Pad"; },
                        [](const RoundOp&) { return "Cast"; },
                        [](const ScaleOp&) { return "Scale"; },
                        [](const ArgMaxOp&) { return "ArgMax"; },
                    },
                    op);
}

Graph Graph::clone() const {
  Graph copy{.name = name,
             .value_names = value_names,
             .nodes = nodes,
             .input = input,
             .output = output,
             .input_shape = input_shape,
             .metadata = metadata};
  for (const auto& [value, tensor] : constants) copy.constants.emplace(value, tensor.clone());
  return copy;
}

void drop_unused(Graph& graph) {
  std::unordered_set<ValueId> used{graph.output};
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (!used.contains(node->output)) continue;
    used.insert(node->inputs.begin(), node->inputs.end());
    kept.push_back(std::move(*node));
  }
  std::ranges::reverse(kept);
  graph.nodes = std::move(kept);
  std::erase_if(graph.constants, [&](const auto& constant) { return !used.contains(constant.first); });
  if (!used.contains(graph.input)) throw bad_input("its output does not depend on its input");
}

std::vector<Shape> infer_shapes(const Graph& graph, const Shape& input_shape) {
  const size_t values = graph.value_names.size();
  const std::string place = graph.name.empty() ? "" : graph.name + ": ";
  const auto fits = [&] {
    if (input_shape.size() != graph.input_shape.size()) return false;
    for (size_t i = 0; i < input_shape.size(); ++i) {
      if (input_shape[i] < 1 || (graph.input_shape[i] != -1 && graph.input_shape[i] != input_shape[i])) return false;
    }
    return true;
  };
  const auto known = [&](ValueId value) { return value >= 0 && static_cast<size_t>(value) < values; };
  if (!known(graph.input) || !known(graph.output)) throw bad_input("{}no input or no output", place);
  if (input_shape.size() > kMostRank) {
    throw bad_input("{}an input of {} dimensions; {} are supported", place, input_shape.size(), kMostRank);
  }
  if (!fits()) {
    throw bad_input("{}an input of shape {} does not fit '{}', which takes {} (-1: any size)", place,
                    to_text(input_shape), graph.value_names[static_cast<size_t>(graph.input)],
                    to_text(graph.input_shape));
  }

  std::vector<Shape> shapes(values);
  std::vector<bool> computed(values);
  const auto set = [&](ValueId value, const Shape& shape) {
    if (!known(value) || computed[static_cast<size_t>(value)]) throw bad_input("its output is another's, too");
    shapes[static_cast<size_t>(value)] = shape;
    computed[static_cast<size_t>(value)] = true;
  };
  for (const auto& [value, tensor] : graph.constants) set(value, tensor.shape());
  set(graph.input, input_shape);
  for (const Node& node : graph.nodes) {
    try {
      std::vector<Shape> inputs;
      for (ValueId input : node.inputs) {
        if (!known(input) || !computed[static_cast<size_t>(input)]) {
          throw bad_input("its input {} is not computed before it", inputs.size());
        }
        if (inputs.size() >= first_constant_input(node.op) && !graph.constants.contains(input)) {
          throw bad_input("its input {} ('{}') is computed; it must be a constant", inputs.size(),
                          graph.value_names[static_cast<size_t>(input)]);
        }
        inputs.push_back(shapes[static_cast<size_t>(input)]);
      }
      set(node.output, output_shape(node.op, inputs));
    } catch (const Error& error) {
      throw bad_input("{}node '{}' ({}): {}", place, node.name, name_of(node.op), error.what());
    }
  }
  if (!computed[static_cast<size_t>(graph.output)]) throw bad_input("{}no node computes the output", place);
  return shapes;
}

}  // namespace convlab
