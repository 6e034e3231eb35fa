// Simplifies a graph for the planner: constant folding, and merging of linear operators into weights.

#include "convlab/rewrite/simplify.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/rewrite/compositions.h"
#include "convlab/rewrite/evaluate.h"
#include "convlab/rewrite/readers.h"

namespace convlab {
namespace {

/// Limits for the results of all operators on constants together: a few times the bytes of the model's constants, and
/// as many multiply-adds as a core computes in some seconds. Without limits, a small file could request far more of
/// both.
constexpr int64_t kResultBytesPerByte = 4, kResultBytesAlways = 16 << 20, kResultMultiplyAdds = int64_t{1} << 30;

int64_t result_bytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const auto& [value, tensor] : graph.constants) bytes += static_cast<int64_t>(tensor.bytes());
  return kResultBytesAlways + kResultBytesPerByte * bytes;
}

/// y = scale * x + shift, per output channel of a convolution or column of a dense layer.
struct Affine {
  std::vector<double> scale, shift;
};

/// Merges nodes into their neighbors as far as possible.
class Merger {
 public:
  Merger(Graph& graph, InputShapes inputs)
      : graph_(graph),
        shapes_(infer_shapes(graph, inputs)),
        readers_(graph),
        gone_(graph.nodes.size()),
        bytes_left_(result_bytes(graph)) {}

  void run() {
    for (Node& node : graph_.nodes) {
      matmul_to_gemm(node);
      pool_to_alias(node);
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (gone_[i]) continue;
      pad_to_conv(i);
      affine_to_weights(i);
    }
    size_t place = 0;
    std::erase_if(graph_.nodes, [&](const Node&) { return gone_[place++]; });
  }

 private:
  const Shape& shape_of(ValueId value) const { return shapes_[static_cast<size_t>(value)]; }
  const Tensor* constant(ValueId value) const {
    const auto found = graph_.constants.find(value);
    return found == graph_.constants.end() ? nullptr : &found->second;
  }

  ValueId add_constant(std::string name, Tensor tensor) {
    const ValueId value = graph_.add_value(std::move(name));
    shapes_.push_back(tensor.shape());
    graph_.constants[value] = std::move(tensor);
    return value;
  }

  void matmul_to_gemm(Node& node) {
    if (!std::holds_alternative<MatMulOp>(node.op) || constant(node.inputs[1]) == nullptr) return;
    if (shape_of(node.inputs[0]).size() == 2 && shape_of(node.inputs[1]).size() == 2) node.op = GemmOp{};
  }

  /// Windows of one pixel change nothing. An adaptive pool has them if its input already has the output's size.
  void pool_to_alias(Node& node) const {
    const auto* pool = std::get_if<PoolOp>(&node.op);
    if (pool == nullptr || pool->pool.kernel_h != 1 || pool->pool.kernel_w != 1) return;
    if (shape_of(node.inputs[0]) == shape_of(node.output)) node.op = ActivationOp{};
  }

  /// Merges zero padding into the padding of the convolution after it.
  void pad_to_conv(size_t at) {
    const std::optional<size_t> reader = readers_.only(graph_.nodes[at].output);
    const auto* pad = std::get_if<PadOp>(&graph_.nodes[at].op);
    auto* conv = reader ? std::get_if<ConvOp>(&graph_.nodes[*reader].op) : nullptr;
    if (pad == nullptr || conv == nullptr || pad->mode != PadMode::constant || pad->value != 0) return;
    if (pad->pads.size() != 8 || pad->pads[0] != 0 || pad->pads[1] != 0 || pad->pads[4] != 0 || pad->pads[5] != 0) {
      return;
    }
    if (std::any_of(pad->pads.begin(), pad->pads.end(), [](int64_t each) { return each < 0; })) return;
    if (conv->auto_pad == AutoPad::valid) {
      conv->auto_pad = AutoPad::explicit_pads;
      conv->pad_top = conv->pad_left = conv->pad_bottom = conv->pad_right = 0;
    }
    if (conv->auto_pad != AutoPad::explicit_pads) return;
    conv->pad_top += pad->pads[2];
    conv->pad_left += pad->pads[3];
    conv->pad_bottom += pad->pads[6];
    conv->pad_right += pad->pads[7];
    Node& node = graph_.nodes[*reader];
    node.name = graph_.nodes[at].name + "+" + node.name;
    node.inputs[0] = graph_.nodes[at].inputs[0];
    gone_[at] = true;
  }

  /// Folds all affine nodes that follow the node into its weights, which are computed once.
  void affine_to_weights(size_t at) {
    Node& node = graph_.nodes[at];
    const std::optional<int64_t> maps = output_channels_of(node);
    if (!maps) return;
    const int64_t bytes = static_cast<int64_t>(constant(node.inputs[1])->bytes() + sizeof(float)) * 2;
    if (bytes > bytes_left_) return;  // weights shared by many nodes would be copied for each of them
    std::optional<Affine> all;
    while (const std::optional<size_t> reader = readers_.only(node.output)) {
      const std::optional<Affine> affine = affine_of(graph_.nodes[*reader], node.output, *maps);
      if (!affine) break;
      all = all ? composed(*all, *affine) : *affine;
      node.name += "+" + graph_.nodes[*reader].name;
      node.output = graph_.nodes[*reader].output;
      gone_[*reader] = true;
    }
    if (!all) return;
    bytes_left_ -= bytes;
    if (std::holds_alternative<ConvOp>(node.op)) {
      scale_conv(node, *all);
    } else {
      scale_gemm(node, *all);
    }
  }

  static Affine composed(const Affine& inner, const Affine& outer) {
    Affine both = outer;
    for (size_t k = 0; k < both.scale.size(); ++k) {
      both.scale[k] *= inner.scale[k];
      both.shift[k] += inner.shift[k] * outer.scale[k];
    }
    return both;
  }

  /// Returns the number of output channels of a convolution, or columns of a dense layer with constant weights; nullopt
  /// for other nodes.
  std::optional<int64_t> output_channels_of(const Node& node) const {
    if (std::holds_alternative<ConvOp>(node.op)) return shape_of(node.output)[1];
    if (!std::holds_alternative<GemmOp>(node.op) || constant(node.inputs[1]) == nullptr) return std::nullopt;
    const int64_t columns = shape_of(node.output)[1];
    if (node.inputs.size() > 2 && !by_channel(node.inputs[2], 2, columns)) return std::nullopt;
    return columns;
  }

  /// Returns the values of a constant that is broadcast to `rank` dimensions and differs only along the second one;
  /// otherwise nullopt.
  std::optional<std::vector<double>> by_channel(ValueId value, size_t rank, int64_t maps) const {
    const Tensor* tensor = constant(value);
    if (tensor == nullptr || tensor->shape().size() > rank) return std::nullopt;
    const Shape& shape = tensor->shape();
    for (size_t i = 0; i < shape.size(); ++i) {
      const bool second = rank - shape.size() + i == 1;
      if (shape[i] != 1 && !(second && shape[i] == maps)) return std::nullopt;
    }
    const std::span<const float> values = tensor->values<float>();
    std::vector<double> result(static_cast<size_t>(maps));
    for (size_t k = 0; k < result.size(); ++k) result[k] = values[values.size() == 1 ? 0 : k];
    return result;
  }

  /// Returns what a node does to its input `x` if that is affine per output channel.
  std::optional<Affine> affine_of(const Node& node, ValueId x, int64_t maps) const {
    const auto count = static_cast<size_t>(maps);
    Affine affine{std::vector<double>(count, 1), std::vector<double>(count, 0)};
    if (const auto* norm = std::get_if<BatchNormOp>(&node.op)) {
      std::span<const float> parameters[4];
      for (size_t i = 0; i < 4; ++i) parameters[i] = constant(node.inputs[i + 1])->values<float>();
      const auto [scale, shift, mean, variance] = parameters;
      for (size_t k = 0; k < count; ++k) {
        affine.scale[k] = scale[k] / std::sqrt(static_cast<double>(variance[k]) + norm->epsilon);
        affine.shift[k] = shift[k] - mean[k] * affine.scale[k];
      }
      return affine;
    }
    const bool adds = std::holds_alternative<AddOp>(node.op);
    if (!adds && !std::holds_alternative<MulOp>(node.op)) return std::nullopt;
    const ValueId other = node.inputs[node.inputs[0] == x ? 1 : 0];
    auto values = by_channel(other, shape_of(x).size(), maps);
    if (!values) return std::nullopt;
    (adds ? affine.shift : affine.scale) = std::move(*values);
    return affine;
  }

  void scale_conv(Node& node, const Affine& affine) {
    Tensor bias(ElementType::f32, {static_cast<int64_t>(affine.scale.size())});
    for (size_t k = 0; k < affine.scale.size(); ++k) {
      const double old = node.inputs.size() > 2 ? constant(node.inputs[2])->values<float>()[k] : 0.0;
      bias.values<float>()[k] = static_cast<float>(old * affine.scale[k] + affine.shift[k]);
    }
    Tensor weights = take_weights(node);
    const std::span<float> values = weights.values<float>();
    const size_t terms = values.size() / affine.scale.size();
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(values[i] * affine.scale[i / terms]);
    set_weights(node, std::move(weights), std::move(bias));
  }

  void scale_gemm(Node& node, const Affine& affine) {
    auto& op = std::get<GemmOp>(node.op);
    const auto columns = static_cast<int64_t>(affine.scale.size());
    Tensor bias(ElementType::f32, {columns});
    std::vector<double> old(affine.scale.size(), 0);
    if (node.inputs.size() > 2) old = *by_channel(node.inputs[2], 2, columns);
    for (size_t k = 0; k < affine.scale.size(); ++k) {
      bias.values<float>()[k] = static_cast<float>(op.beta * old[k] * affine.scale[k] + affine.shift[k]);
    }
    Tensor weights = take_weights(node);
    const int64_t depth = weights.shape()[op.transpose_b ? 1 : 0];
    for (int64_t i = 0; i < weights.count(); ++i) {
      const double scale = op.alpha * affine.scale[static_cast<size_t>(op.transpose_b ? i / depth : i % columns)];
      float& value = weights.values<float>()[static_cast<size_t>(i)];
      value = static_cast<float>(value * scale);
    }
    op.alpha = op.beta = 1;
    set_weights(node, std::move(weights), std::move(bias));
  }

  /// Returns the node's weights for modification: moved out of the graph, or copied if other nodes read them.
  Tensor take_weights(const Node& node) {
    const auto found = graph_.constants.find(node.inputs[1]);
    if (!readers_.only(node.inputs[1])) return found->second.clone();
    Tensor weights = std::move(found->second);
    graph_.constants.erase(found);
    return weights;
  }

  void set_weights(Node& node, Tensor weights, Tensor bias) {
    node.inputs.resize(3);
    node.inputs[1] = add_constant(node.name + ".weights", std::move(weights));
    node.inputs[2] = add_constant(node.name + ".bias", std::move(bias));
  }

  Graph& graph_;
  std::vector<Shape> shapes_;
  const Readers readers_;
  std::vector<bool> gone_;  ///< by node: merged into another node
  int64_t bytes_left_;      ///< for new weights
};

}  // namespace

void fold_constants(Graph& graph) {
  EvaluationLimits left{result_bytes(graph), kResultMultiplyAdds};
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    std::vector<const Tensor*> inputs;
    for (ValueId input : node.inputs) {
      const auto found = graph.constants.find(input);
      if (found != graph.constants.end()) inputs.push_back(&found->second);
    }
    if (inputs.size() != node.inputs.size()) {
      kept.push_back(std::move(node));
      continue;
    }
    try {
      graph.constants[node.output] = evaluate(node.op, inputs, left);
    } catch (const Error& error) {
      throw in_file(graph.name,
                    Error(error.kind(), fmt::format("node '{}' ({}): {}", node.name, name_of(node.op), error.what())));
    }
  }
  graph.nodes = std::move(kept);
}

Graph simplified(Graph graph, InputShapes inputs, bool into_weights) {
  fold_constants(graph);
  if (into_weights) {
    fuse_compositions(graph, inputs);
    Merger(graph, inputs).run();
  }
  drop_unread_constants(graph);
  return graph;
}

}  // namespace convlab
