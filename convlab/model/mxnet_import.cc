#include "convlab/model/mxnet_import.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "convlab/base/text.h"
#include "convlab/model/mxnet_params.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

using nlohmann::json;

/// A node's attributes: texts such as "(5, 5)" and "True".
class Attributes {
 public:
  explicit Attributes(const json& node) {
    for (const char* key : {"attrs", "attr", "param"}) {  // newer files first
      if (!node.contains(key)) continue;
      for (const auto& [name, value] : node[key].items()) {
        if (!value.is_string()) throw bad_input("attribute {} is not a text", name);
        texts_[name] = value.get<std::string>();
      }
    }
  }

  std::string text(const std::string& name, const std::string& otherwise) const {
    const auto found = texts_.find(name);
    return found == texts_.end() ? otherwise : found->second;
  }

  bool flag(const std::string& name, bool otherwise) const {
    const std::string value = text(name, otherwise ? "True" : "False");
    if (value == "True" || value == "1" || value == "true") return true;
    if (value == "False" || value == "0" || value == "false") return false;
    throw bad_input("attribute {} is '{}', not True or False", name, value);
  }

  int64_t integer(const std::string& name) const {
    return parse_int(text(name, ""), "attribute " + name, 1, int64_t{1} << 31);
  }

  double real(const std::string& name, double otherwise) const {
    const auto found = texts_.find(name);
    return found == texts_.end() ? otherwise : parse_double(found->second, "attribute " + name, 0, 1e9);
  }

  /// "(5, 5)" or "5": height and width.
  std::pair<int64_t, int64_t> pair(const std::string& name, int64_t otherwise, int64_t least) const {
    std::string value = text(name, "");
    std::erase_if(value, [](char c) { return c == '(' || c == ')' || c == '[' || c == ']' || c == ' '; });
    if (value.ends_with(',')) value.pop_back();
    if (value.empty()) return {otherwise, otherwise};
    const std::vector<std::string> parts = split(value, ',');
    if (parts.size() > 2) throw bad_input("attribute {} has {} sizes; 2-D is supported", name, parts.size());
    const std::string what = "attribute " + name;
    constexpr int64_t kMost = int64_t{1} << 31;
    return {parse_int(parts.front(), what, least, kMost), parse_int(parts.back(), what, least, kMost)};
  }

 private:
  std::map<std::string, std::string> texts_;
};

class Importer {
 public:
  Importer(const json& symbol, std::map<std::string, Tensor> params) : symbol_(symbol), params_(std::move(params)) {}

  Graph import();

 private:
  void import_node(const json& node, const std::string& op, const std::string& name);
  void convolution(const Attributes& attributes, const std::string& name, const std::vector<ValueId>& inputs);
  void pooling(const Attributes& attributes, const std::string& name, const std::vector<ValueId>& inputs);
  void fully_connected(const Attributes& attributes, const std::string& name, const std::vector<ValueId>& inputs);
  void batch_norm(const Attributes& attributes, const std::string& name, std::vector<ValueId> inputs);

  std::vector<ValueId> inputs_of(const json& node);
  ValueId variable(const std::string& name);
  ValueId add(const std::string& name, Op op, std::vector<ValueId> inputs);
  const Tensor& weights(ValueId value, const char* what) const;
  void infer_input_shape();

  const json& symbol_;
  std::map<std::string, Tensor> params_;
  Graph graph_;
  std::vector<ValueId> values_;  // by node; -1 where a node has none (labels)
};

/// A variable's value: weights are in the params file; labels are not, and nobody asks for them; the rest is the input.
ValueId Importer::variable(const std::string& name) {
  for (const char* kind : {"arg:", "aux:"}) {
    const auto found = params_.find(kind + name);
    if (found == params_.end()) continue;
    Tensor tensor = converted(found->second, ElementType::f32);
    const auto numbers = tensor.values<float>();
    if (std::any_of(numbers.begin(), numbers.end(), [](float value) { return std::isnan(value); })) {
      throw bad_input("weights '{}' hold NaN", name);
    }
    const ValueId value = graph_.add_value(name);
    graph_.constants[value] = std::move(tensor);
    return value;
  }
  if (name.ends_with("label")) return -1;
  if (graph_.input >= 0) {
    throw bad_input("variable '{}' is not in the params file, and the input is already '{}'", name,
                    graph_.value_names[graph_.input]);
  }
  return graph_.input = graph_.add_value(name);
}

ValueId Importer::add(const std::string& name, Op op, std::vector<ValueId> inputs) {
  const ValueId output = graph_.add_value(name);
  graph_.nodes.push_back({name, std::move(op), std::move(inputs), output});
  return output;
}

const Tensor& Importer::weights(ValueId value, const char* what) const {
  const auto found = graph_.constants.find(value);
  if (found == graph_.constants.end()) throw bad_input("{} are not in the params file", what);
  return found->second;
}

std::vector<ValueId> Importer::inputs_of(const json& node) {
  std::vector<ValueId> inputs;
  for (const json& input : node.at("inputs")) {
    const auto source = input.at(0).get<int64_t>(), output = input.size() > 1 ? input.at(1).get<int64_t>() : 0;
    if (source < 0 || source >= static_cast<int64_t>(values_.size())) {
      throw bad_input("takes node {} as input, which does not come before it", source);
    }
    if (output != 0) throw bad_input("takes output {} of node {}; first outputs are supported", output, source);
    inputs.push_back(values_[source]);
  }
  return inputs;
}

void require_inputs(const std::vector<ValueId>& inputs, size_t count) {
  if (inputs.size() < count) throw bad_input("has {} inputs; {} are wanted", inputs.size(), count);
  for (size_t i = 0; i < count; ++i) {
    if (inputs[i] < 0) throw bad_input("takes a label as input {}", i);
  }
}

void Importer::convolution(const Attributes& attributes, const std::string& name, const std::vector<ValueId>& inputs) {
  const bool bias = inputs.size() > 2 && !attributes.flag("no_bias", false);
  require_inputs(inputs, bias ? 3 : 2);
  const Shape& filters = weights(inputs[1], "the filters").shape();
  const auto [kernel_h, kernel_w] = attributes.pair("kernel", 0, 1);
  if (filters.size() != 4 || filters[0] != attributes.integer("num_filter") || filters[2] != kernel_h ||
      filters[3] != kernel_w) {
    throw bad_input("filters have shape {}, the symbol wants {} of {}x{}", to_text(filters),
                    attributes.text("num_filter", "?"), kernel_h, kernel_w);
  }
  ConvOp op;
  std::tie(op.stride_h, op.stride_w) = attributes.pair("stride", 1, 1);
  std::tie(op.dilation_h, op.dilation_w) = attributes.pair("dilate", 1, 1);
  std::tie(op.pad_top, op.pad_left) = attributes.pair("pad", 0, 0);
  op.pad_bottom = op.pad_top, op.pad_right = op.pad_left;
  op.groups = attributes.text("num_group", "1") == "1" ? 1 : attributes.integer("num_group");
  values_.push_back(add(name, op, {inputs.begin(), inputs.begin() + (bias ? 3 : 2)}));
}

void Importer::pooling(const Attributes& attributes, const std::string& name, const std::vector<ValueId>& inputs) {
  require_inputs(inputs, 1);
  const std::string kind = attributes.text("pool_type", "max");
  if (kind != "max" && kind != "avg") throw bad_input("pool_type '{}' is not supported", kind);
  if (attributes.flag("global_pool", false)) {
    if (kind != "avg") throw bad_input("global max-pooling is not supported");
    values_.push_back(add(name, GlobalAveragePoolOp{}, {inputs[0]}));
    return;
  }
  PoolOp op;
  op.pool.kind = kind == "max" ? PoolKind::max : PoolKind::average;
  std::tie(op.pool.kernel_h, op.pool.kernel_w) = attributes.pair("kernel", 0, 1);
  if (op.pool.kernel_h == 0) throw bad_input("has no kernel");
  std::tie(op.pool.stride_h, op.pool.stride_w) = attributes.pair("stride", 1, 1);
  std::tie(op.pool.pad_top, op.pool.pad_left) = attributes.pair("pad", 0, 0);
  op.pool.pad_bottom = op.pool.pad_top, op.pool.pad_right = op.pool.pad_left;
  const std::string convention = attributes.text("pooling_convention", "valid");
  if (convention != "valid" && convention != "full")
    throw bad_input("pooling_convention '{}' is not supported", convention);
  op.pool.ceil_mode = convention == "full";
  op.pool.count_include_pad = attributes.flag("count_include_pad", true);
  values_.push_back(add(name, op, {inputs[0]}));
}

void Importer::fully_connected(const Attributes& attributes, const std::string& name,
                               const std::vector<ValueId>& inputs) {
  const bool bias = !attributes.flag("no_bias", false);
  require_inputs(inputs, bias ? 3 : 2);
  const Shape& shape = weights(inputs[1], "the weights").shape();
  if (shape.size() != 2 || shape[0] != attributes.integer("num_hidden")) {
    throw bad_input("weights have shape {}, the symbol wants {} rows", to_text(shape),
                    attributes.text("num_hidden", "?"));
  }
  if (!attributes.flag("flatten", true)) throw bad_input("flatten=False is not supported");
  const ValueId flat = add(name + "_flatten", FlattenOp{1}, {inputs[0]});
  std::vector<ValueId> operands{flat, inputs[1]};
  if (bias) operands.push_back(inputs[2]);
  values_.push_back(add(name, GemmOp{.transpose_b = true}, std::move(operands)));
}

void Importer::batch_norm(const Attributes& attributes, const std::string& name, std::vector<ValueId> inputs) {
  require_inputs(inputs, 5);
  if (attributes.text("axis", "1") != "1") throw bad_input("axis other than 1 is not supported");
  weights(inputs[1], "gamma");
  if (attributes.flag("fix_gamma", true)) {  // gamma counts as 1, whatever the file says
    auto gamma = graph_.constants[inputs[1]].values<float>();
    std::fill(gamma.begin(), gamma.end(), 1.0f);
  }
  inputs.resize(5);
  const auto epsilon = static_cast<float>(attributes.real("eps", 1e-3));
  values_.push_back(add(name, BatchNormOp{epsilon}, std::move(inputs)));
}

void Importer::import_node(const json& node, const std::string& op, const std::string& name) {
  if (op == "null") return values_.push_back(variable(name));
  const Attributes attributes(node);
  std::vector<ValueId> inputs = inputs_of(node);
  if (op == "New" || op == "Convolution") return convolution(attributes, name, inputs);
  if (op == "Pooling") return pooling(attributes, name, inputs);
  if (op == "FullyConnected") return fully_connected(attributes, name, inputs);
  if (op == "BatchNorm") return batch_norm(attributes, name, std::move(inputs));
  require_inputs(inputs, 1);
  if (op == "Activation") {
    const std::string kind = attributes.text("act_type", "");
    if (kind != "tanh" && kind != "relu" && kind != "sigmoid") throw bad_input("act_type '{}' is not supported", kind);
    const ActivationKind activation = kind == "tanh"   ? ActivationKind::tanh
                                      : kind == "relu" ? ActivationKind::relu
                                                       : ActivationKind::sigmoid;
    return values_.push_back(add(name, ActivationOp{{activation}}, {inputs[0]}));
  }
  if (op == "Flatten") return values_.push_back(add(name, FlattenOp{1}, {inputs[0]}));
  if (op == "Dropout") return values_.push_back(inputs[0]);
  if (op == "SoftmaxOutput" || op == "SoftmaxActivation" || op == "softmax") {
    return values_.push_back(add(name, SoftmaxOp{.axis = 1}, {inputs[0]}));
  }
  throw bad_input("the operator is not supported");
}

/// Tries sides until the shapes of the whole network fit each other.
void Importer::infer_input_shape() {
  std::optional<int64_t> channels;
  bool dense = false;
  for (const Node& node : graph_.nodes) {
    if (const auto* conv = std::get_if<ConvOp>(&node.op); conv != nullptr && !channels && !dense) {
      channels = graph_.constants.at(node.inputs[1]).shape()[1] * conv->groups;
    }
    dense = dense || std::holds_alternative<GemmOp>(node.op);
  }
  if (!channels || !dense) {
    throw bad_input(
        "the size of the images cannot be inferred: it takes a convolution and then a FullyConnected layer");
  }
  constexpr int64_t kMostSide = 1024;
  for (int64_t side = 1; side <= kMostSide; ++side) {
    graph_.input_shape = {-1, *channels, side, side};
    try {
      infer_shapes(graph_, {1, *channels, side, side});
      return;
    } catch (const Error&) {  // not this one
    }
  }
  throw bad_input("no square image of side 1 to {} fits the first FullyConnected layer's columns", kMostSide);
}

Graph Importer::import() {
  if (!symbol_.is_object() || !symbol_.contains("nodes") || !symbol_["nodes"].is_array()) {
    throw bad_input("not an MXNet symbol: it has no array 'nodes'");
  }
  for (const json& node : symbol_["nodes"]) {
    const auto op = node.at("op").get<std::string>(), name = node.at("name").get<std::string>();
    try {
      import_node(node, op, name);
    } catch (const Error& error) {
      throw bad_input("node '{}' ({}): {}", name, op, error.what());
    }
  }
  if (graph_.input < 0 || graph_.nodes.empty()) throw bad_input("the symbol has no input or no operator");
  graph_.output = values_.back();
  if (symbol_.contains("heads") && !symbol_["heads"].empty()) {
    if (symbol_["heads"].size() != 1)
      throw bad_input("the symbol has {} outputs; one is supported", symbol_["heads"].size());
    const auto head = symbol_["heads"].at(0).at(0).get<int64_t>();
    if (head < 0 || head >= static_cast<int64_t>(values_.size()) || values_[head] < 0) throw bad_input("head {}", head);
    graph_.output = values_[head];
  }
  infer_input_shape();
  return std::move(graph_);
}

}  // namespace

Graph import_mxnet(std::span<const uint8_t> symbol, std::string_view symbol_name, std::span<const uint8_t> params,
                   std::string_view params_name) {
  std::map<std::string, Tensor> weights = read_mxnet_params(params, params_name);
  try {
    // Nesting is bounded, since the parser's stack is not.
    constexpr int kMostDepth = 64;
    const json::parser_callback_t shallow = [&](int depth, json::parse_event_t, json&) {
      if (depth > kMostDepth) throw bad_input("nested deeper than {} levels", kMostDepth);
      return true;
    };
    const json parsed = json::parse(symbol.begin(), symbol.end(), shallow);
    Graph graph = Importer(parsed, std::move(weights)).import();
    graph.name = symbol_name;
    return graph;
  } catch (const json::exception& error) {
    throw bad_input("{}: {}", symbol_name, error.what());
  } catch (const Error& error) {
    throw bad_input("{}: {}", symbol_name, error.what());
  }
}

}  // namespace convlab
