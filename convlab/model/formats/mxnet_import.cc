// Imports MXNet checkpoints.

#include "convlab/model/formats/mxnet_import.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include "convlab/base/checked.h"
#include "convlab/base/text.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/model/formats/mxnet_params.h"
#include "convlab/model/formats/mxnet_symbol.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Visits a symbol's nodes in order. Errors name node and reason, without the file.
class MxnetImporter {
 public:
  MxnetImporter(const MxnetSymbol& symbol, const std::map<std::string, Tensor>& params)
      : symbol_(symbol), params_(params), values_(symbol.nodes.size(), kUnknown) {}

  Graph import();

 private:
  /// A variable without an array in the params file. Its consumer decides whether it is an image, a label or missing
  /// weights.
  static constexpr ValueId kUnknown = -1;

  ValueId import_node(const MxnetNode& node);
  ValueId convolution(const MxnetNode& node);
  ValueId pooling(const MxnetNode& node);
  ValueId fully_connected(const MxnetNode& node);
  ValueId batch_norm(const MxnetNode& node);
  ValueId activation(const MxnetNode& node);
  ValueId softmax(const MxnetNode& node);

  ValueId variable(const std::string& name);
  ValueId add(const MxnetNode& node, Op op, std::vector<ValueId> inputs);
  ValueId data(const MxnetNode& node);
  ValueId weights(const MxnetNode& node, size_t input);
  const Shape& shape_of(ValueId constant) const { return graph_.constants.at(constant).shape(); }

  int64_t channels() const;
  std::optional<size_t> first_dense_layer() const;
  std::optional<int64_t> columns_at(int64_t side, size_t dense) const;
  void infer_input_shape();
  void finish_with_shapes();

  const MxnetSymbol& symbol_;
  const std::map<std::string, Tensor>& params_;
  std::vector<ValueId> values_;  // by node
  std::set<std::string> variables_;
  std::map<ValueId, ValueId> fixed_gammas_;  // by gamma: ones that replace it
  Graph graph_;
};

ValueId MxnetImporter::variable(const std::string& name) {
  for (const char* kind : {"arg:", "aux:"}) {
    const auto found = params_.find(kind + name);
    if (found == params_.end()) continue;
    Tensor tensor = converted(found->second, ElementType::f32);
    if (std::ranges::any_of(tensor.values<float>(), [](float value) { return std::isnan(value); })) {
      throw bad_input("weights contain NaN");
    }
    const ValueId value = graph_.add_value(printable(name));
    graph_.constants.emplace(value, std::move(tensor));
    return value;
  }
  return kUnknown;
}

ValueId MxnetImporter::add(const MxnetNode& node, Op op, std::vector<ValueId> inputs) {
  const ValueId output = graph_.add_value(printable(node.name));
  graph_.nodes.push_back({printable(node.name), std::move(op), std::move(inputs), output});
  return output;
}

/// Returns a node's data: its first input. A variable without an array is the network's input.
ValueId MxnetImporter::data(const MxnetNode& node) {
  if (node.inputs.empty()) throw bad_input("node has no input");
  ValueId& value = values_[node.inputs[0]];
  if (value != kUnknown) return value;
  const std::string name = printable(symbol_.nodes[node.inputs[0]].name);
  if (graph_.inputs[0].value >= 0) {
    throw bad_input("input '{}' is not in the params file, and the network input is already '{}'", name,
                    graph_.value_names[static_cast<size_t>(graph_.inputs[0].value)]);
  }
  return graph_.inputs[0].value = value = graph_.add_value(name);
}

ValueId MxnetImporter::weights(const MxnetNode& node, size_t input) {
  if (input >= node.inputs.size())
    throw bad_input("expected at least {} inputs, got {}", input + 1, node.inputs.size());
  const ValueId value = values_[node.inputs[input]];
  if (!graph_.constants.contains(value)) {
    throw bad_input("weights '{}' are missing from the params file", printable(symbol_.nodes[node.inputs[input]].name));
  }
  return value;
}

ValueId MxnetImporter::convolution(const MxnetNode& node) {
  // The course's own operator never has a bias, and has no attribute for it.
  const bool bias = node.op == "New" ? node.inputs.size() > 2 : !node.flag("no_bias", false);
  std::vector<ValueId> inputs{data(node), weights(node, 1)};
  if (bias) inputs.push_back(weights(node, 2));
  if (const std::string layout = node.text("layout", "NCHW"); layout != "NCHW" && layout != "None") {
    throw bad_input("layout {} is not supported; use NCHW", layout);
  }
  const Shape& filters = shape_of(inputs[1]);
  const auto [kernel_h, kernel_w] = node.pair("kernel", 0, 1);
  const int64_t maps = node.integer("num_filter");
  if (filters.size() != 4 || filters[0] != maps || filters[2] != kernel_h || filters[3] != kernel_w) {
    throw bad_input("the symbol declares {} filters of {}x{}, but the params file has shape {}", maps, kernel_h,
                    kernel_w, to_text(filters));
  }
  ConvOp op;
  std::tie(op.stride_h, op.stride_w) = node.pair("stride", 1, 1);
  std::tie(op.dilation_h, op.dilation_w) = node.pair("dilate", 1, 1);
  std::tie(op.pad_top, op.pad_left) = node.pair("pad", 0, 0);
  op.pad_bottom = op.pad_top, op.pad_right = op.pad_left;
  op.groups = node.integer("num_group", 1);
  return add(node, op, std::move(inputs));
}

ValueId MxnetImporter::pooling(const MxnetNode& node) {
  const std::string kind = node.text("pool_type", "max");
  if (kind != "max" && kind != "avg") throw bad_input("pool_type '{}' is not supported; use max or avg", kind);
  const ValueId input = data(node);
  if (node.flag("global_pool", false)) {
    if (kind != "avg") throw bad_input("global max pooling (global_pool) is not supported");
    return add(node, GlobalAveragePoolOp{}, {input});
  }
  const std::string convention = node.text("pooling_convention", "valid");
  if (convention != "valid" && convention != "full") {
    throw bad_input("pooling_convention '{}' is not supported; use valid or full", convention);
  }
  PoolOp op{.pool = {.kind = kind == "max" ? PoolKind::max : PoolKind::average}};
  std::tie(op.pool.kernel_h, op.pool.kernel_w) = node.pair("kernel", 0, 1);
  if (op.pool.kernel_h == 0) throw bad_input("attribute kernel is missing");
  std::tie(op.pool.stride_h, op.pool.stride_w) = node.pair("stride", 1, 1);
  std::tie(op.pool.pad_top, op.pool.pad_left) = node.pair("pad", 0, 0);
  op.pool.pad_bottom = op.pool.pad_top, op.pool.pad_right = op.pool.pad_left;
  op.pool.ceil_mode = convention == "full";
  op.pool.count_include_pad = kind == "avg" && node.flag("count_include_pad", true);
  return add(node, op, {input});
}

ValueId MxnetImporter::fully_connected(const MxnetNode& node) {
  const ValueId input = data(node);
  std::vector<ValueId> operands{input, weights(node, 1)};
  if (!node.flag("no_bias", false)) operands.push_back(weights(node, 2));
  if (!node.flag("flatten", true)) throw bad_input("flatten = False is not supported");
  const int64_t rows = node.integer("num_hidden");
  const Shape& shape = shape_of(operands[1]);
  if (shape.size() != 2 || shape[0] != rows) {
    throw bad_input("the symbol declares {} rows of weights, but the params file has shape {}", rows, to_text(shape));
  }
  // MXNet flattens the input of this operator. After a Flatten, one more costs nothing.
  const ValueId flat = graph_.add_value(printable(node.name + "_flatten"));
  graph_.nodes.push_back({printable(node.name + "_flatten"), FlattenOp{}, {input}, flat});
  operands[0] = flat;
  return add(node, GemmOp{.transpose_b = true}, std::move(operands));
}

ValueId MxnetImporter::batch_norm(const MxnetNode& node) {
  if (node.text("axis", "1") != "1") throw bad_input("axis {} is not supported; use 1", node.text("axis", "1"));
  std::vector<ValueId> inputs{data(node), weights(node, 1), weights(node, 2)};
  if (node.inputs.size() == 3) {  // before version 0.9 a symbol did not list what only training updates
    for (const char* statistic : {"_moving_mean", "_moving_var"}) {
      inputs.push_back(variable(node.name + statistic));
      if (inputs.back() == kUnknown) {
        throw bad_input("weights '{}{}' are missing from the params file", printable(node.name), statistic);
      }
    }
  } else {
    inputs.push_back(weights(node, 3));
    inputs.push_back(weights(node, 4));
  }
  if (node.flag("fix_gamma", true)) {  // gamma counts as 1, whatever the file says
    const auto [fixed, is_new] = fixed_gammas_.try_emplace(inputs[1], kUnknown);
    if (is_new) {
      Tensor ones(ElementType::f32, shape_of(inputs[1]));
      std::ranges::fill(ones.values<float>(), 1.0f);
      fixed->second = graph_.add_value(printable(node.name + "_fixed_gamma"));
      graph_.constants.emplace(fixed->second, std::move(ones));
    }
    inputs[1] = fixed->second;
  }
  return add(node, BatchNormOp{static_cast<float>(node.real("eps", 1e-3))}, std::move(inputs));
}

ValueId MxnetImporter::activation(const MxnetNode& node) {
  const std::string kind = node.text("act_type", "");
  const ValueId input = data(node);
  if (kind == "tanh") return add(node, ActivationOp{{ActivationKind::tanh}}, {input});
  if (kind == "relu") return add(node, ActivationOp{{ActivationKind::relu}}, {input});
  if (kind == "sigmoid") return add(node, ActivationOp{{ActivationKind::sigmoid}}, {input});
  throw bad_input("act_type '{}' is not supported; use tanh, relu or sigmoid", kind);
}

ValueId MxnetImporter::softmax(const MxnetNode& node) {
  const ValueId input = data(node);
  SoftmaxOp op{.axis = 1, .flattened = true};  // a label, the second input, is not used for inference
  if (node.op == "softmax") {
    op = {.axis = node.text("axis", "-1") == "-1" ? -1 : node.integer("axis")};
    const std::string temperature = node.text("temperature", "None");
    if (temperature != "None" && node.real("temperature", 1) != 1)
      throw bad_input("a temperature other than 1 is not supported");
  } else if (node.op == "SoftmaxActivation") {
    const std::string mode = node.text("mode", "instance");
    if (mode != "instance" && mode != "channel")
      throw bad_input("mode '{}' is not supported; use instance or channel", mode);
    op.flattened = mode == "instance";
  } else if (node.flag("preserve_shape", false)) {
    op = {.axis = -1};
  } else if (node.flag("multi_output", false)) {
    op.flattened = false;
  }
  return add(node, op, {input});
}

ValueId MxnetImporter::import_node(const MxnetNode& node) {
  if (node.op == "null") {
    if (!variables_.insert(node.name).second) throw bad_input("duplicate variable name");
    return variable(node.name);
  }
  if (node.op == "New" || node.op == "Convolution") return convolution(node);
  if (node.op == "Pooling") return pooling(node);
  if (node.op == "FullyConnected") return fully_connected(node);
  if (node.op == "BatchNorm") return batch_norm(node);
  if (node.op == "Activation") return activation(node);
  if (node.op == "SoftmaxOutput" || node.op == "SoftmaxActivation" || node.op == "softmax") return softmax(node);
  if (node.op == "Flatten") return add(node, FlattenOp{}, {data(node)});
  if (node.op == "Dropout") return data(node);
  throw bad_input(
      "operator not supported; supported: Activation, BatchNorm, Convolution, Dropout, Flatten, "
      "FullyConnected, New, Pooling, softmax, SoftmaxActivation, SoftmaxOutput");
}

/// Returns the number of input channels of the first convolution; 1 if a dense layer comes first.
int64_t MxnetImporter::channels() const {
  for (const Node& node : graph_.nodes) {
    if (std::holds_alternative<GemmOp>(node.op)) break;
    if (std::holds_alternative<BatchNormOp>(node.op)) return shape_of(node.inputs[1]).at(0);
    if (const auto* conv = std::get_if<ConvOp>(&node.op)) {
      return checked_mul(shape_of(node.inputs[1])[1], conv->groups);
    }
  }
  return 1;
}

/// Returns the index of the first FullyConnected layer if its columns determine the image size: no global pooling
/// precedes it.
std::optional<size_t> MxnetImporter::first_dense_layer() const {
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (std::holds_alternative<GlobalAveragePoolOp>(graph_.nodes[i].op)) return std::nullopt;
    if (std::holds_alternative<GemmOp>(graph_.nodes[i].op)) return i;
  }
  return std::nullopt;
}

/// Returns the number of columns that reach the dense layer for images of this side; nullopt if an earlier layer needs
/// larger images.
std::optional<int64_t> MxnetImporter::columns_at(int64_t side, size_t dense) const {
  std::vector<Shape> shapes(graph_.value_names.size());
  shapes[static_cast<size_t>(graph_.inputs[0].value)] = {1, channels(), side, side};
  for (const auto& [value, tensor] : graph_.constants) shapes[static_cast<size_t>(value)] = tensor.shape();
  try {
    for (size_t i = 0; i < dense; ++i) {
      std::vector<Shape> inputs;
      for (ValueId input : graph_.nodes[i].inputs) inputs.push_back(shapes[static_cast<size_t>(input)]);
      shapes[static_cast<size_t>(graph_.nodes[i].output)] = output_shape(graph_.nodes[i].op, inputs);
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return shapes[static_cast<size_t>(graph_.nodes[dense].inputs[0])].at(1);
}

/// A symbol does not contain the image size, but the number of columns that reach the first dense layer grows with it.
/// Bisection finds the smallest side with enough columns. Larger sides may also fit if a pooling drops the last row.
void MxnetImporter::infer_input_shape() {
  const std::optional<size_t> dense = first_dense_layer();
  graph_.inputs[0].shape = {-1, channels(), -1, -1};
  if (!dense) return;  // any size works
  constexpr int64_t kMostSide = 4096;
  const int64_t wanted = shape_of(graph_.nodes[*dense].inputs[1])[1];
  int64_t low = 1, high = kMostSide;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    const std::optional<int64_t> columns = columns_at(middle, *dense);
    if (columns && *columns >= wanted) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  graph_.inputs[0].shape = {-1, channels(), low, low};
  const std::optional<int64_t> columns = columns_at(low, *dense);
  if (!columns) return;  // the layers before do not fit each other: infer_shapes() will name them
  if (*columns != wanted) {
    throw bad_input(
        "node '{}' (FullyConnected): weights have {} columns, but no square image of side 1 to {} produces {}",
        graph_.nodes[*dense].name, wanted, kMostSide, wanted);
  }
}

/// Checks what requires shapes: that all layers fit, and where MXNet's operators differ from ONNX's.
void MxnetImporter::finish_with_shapes() {
  Shape input = graph_.inputs[0].shape;
  constexpr int64_t kSomeSide = 256;  // if any side works
  for (int64_t& size : input) size = size == -1 ? kSomeSide : size;
  input[0] = 1;
  const std::vector<Shape> shapes = infer_shapes(graph_, input);
  for (Node& node : graph_.nodes) {
    const Shape& x = shapes[static_cast<size_t>(node.inputs[0])];
    if (auto* softmax = std::get_if<SoftmaxOp>(&node.op); softmax != nullptr && softmax->axis == std::ssize(x) - 1) {
      softmax->flattened = false;  // over the last dimension, both are the same
    }
    if (const auto* op = std::get_if<PoolOp>(&node.op); op != nullptr && op->pool.ceil_mode) {
      // MXNet's "full" keeps a last window that begins in the padding after the image; ONNX's ceil_mode drops it.
      const auto full = [](int64_t size, int64_t kernel, int64_t stride, int64_t pad) {
        return ceil_div(size + 2 * pad - kernel, stride) + 1;
      };
      const Pool& pool = op->pool;
      const bool any_size =
          graph_.inputs[0].shape[2] == -1 &&
          (pool.pad_top > 0 || pool.pad_left > 0 || pool.stride_h > pool.kernel_h || pool.stride_w > pool.kernel_w);
      if (any_size || full(x[2], pool.kernel_h, pool.stride_h, pool.pad_top) != pool.output_h(x[2]) ||
          full(x[3], pool.kernel_w, pool.stride_w, pool.pad_left) != pool.output_w(x[3])) {
        throw bad_input(
            "node '{}' (Pooling): pooling_convention 'full' is not supported where the last window may lie "
            "outside the image",
            node.name);
      }
    }
  }
}

Graph MxnetImporter::import() {
  for (size_t i = 0; i < symbol_.nodes.size(); ++i) {
    const MxnetNode& node = symbol_.nodes[i];
    try {
      values_[i] = import_node(node);
    } catch (const Error& error) {
      throw bad_input("node '{}' ({}): {}", printable(node.name), printable(node.op), error.what());
    }
  }
  graph_.outputs[0].value = values_[symbol_.head];
  if (graph_.inputs[0].value < 0) throw bad_input("the network has no input");
  if (graph_.outputs[0].value == graph_.inputs[0].value || graph_.outputs[0].value < 0 ||
      graph_.constants.contains(graph_.outputs[0].value)) {
    throw bad_input("network output '{}' is not computed by any node", printable(symbol_.nodes[symbol_.head].name));
  }
  drop_unused(graph_);
  infer_input_shape();
  finish_with_shapes();
  return std::move(graph_);
}

}  // namespace

Graph import_mxnet(std::span<const uint8_t> symbol, std::string_view symbol_name, std::span<const uint8_t> params,
                   std::string_view params_name) {
  const std::map<std::string, Tensor> weights = read_mxnet_params(params, params_name);
  try {
    const MxnetSymbol parsed = parse_mxnet_symbol(symbol);
    Graph graph = MxnetImporter(parsed, weights).import();
    graph.name = printable(symbol_name);
    return graph;
  } catch (const Error& error) {
    throw in_file(symbol_name, error);
  }
}

}  // namespace convlab
