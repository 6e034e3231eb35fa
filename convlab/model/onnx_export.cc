#include "convlab/model/onnx_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "convlab/base/error.h"
#include "convlab/model/onnx.pb.h"

namespace convlab {
namespace {

constexpr int64_t kOpset = 13, kIrVersion = 8;
constexpr int64_t kDilatedAverageOpset = 19, kDilatedAverageIrVersion = 9;  // the first with a dilated AveragePool

/// Names for the values of a file: the graph's own, but each only once. (They repeat after Identity and the like are
/// removed, and ONNX names no value "".)
class Names {
 public:
  explicit Names(const Graph& graph) {
    for (const std::string& name : graph.value_names) names_.push_back(fresh(name.empty() ? "value" : name));
  }
  const std::string& operator[](ValueId value) const { return names_[static_cast<size_t>(value)]; }

  /// `wanted`, or with a number after it.
  std::string fresh(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}.{}", wanted, i);
    return name;
  }

 private:
  std::vector<std::string> names_;
  std::set<std::string> taken_;
};

/// Writes one node, and initializers for the constants that opset 13 takes as inputs.
class NodeWriter {
 public:
  /// `input_shape`: of the node's first input, open sizes -1; nullopt where unknown.
  NodeWriter(onnx::GraphProto& graph, const Node& node, std::optional<Shape> input_shape, Names& names)
      : graph_(graph), node_(*graph.add_node()), input_shape_(std::move(input_shape)), names_(names) {
    node_.set_name(node.name);
    node_.set_op_type(name_of(node.op));
    for (ValueId input : node.inputs) node_.add_input(names[input]);
    node_.add_output(names[node.output]);
  }

  void integer(const char* name, int64_t value) { add(name, onnx::AttributeProto::INT).set_i(value); }
  void real(const char* name, float value) {
    onnx::AttributeProto& attribute = add(name, onnx::AttributeProto::FLOAT);
    attribute.set_f(value);
  }
  void text(const char* name, const std::string& value) {
    onnx::AttributeProto& attribute = add(name, onnx::AttributeProto::STRING);
    attribute.set_s(value);
  }
  void integers(const char* name, const std::vector<int64_t>& values) {
    onnx::AttributeProto& attribute = add(name, onnx::AttributeProto::INTS);
    for (int64_t value : values) attribute.add_ints(value);
  }

  /// A further input, a constant of integers.
  void integer_input(const char* what, const std::vector<int64_t>& values) {
    node_.add_input(integer_constant(what, values));
  }

  /// A further input, a constant scalar.
  void real_input(const char* what, float value) {
    onnx::TensorProto& tensor = constant(what, onnx::TensorProto::FLOAT);
    tensor.add_float_data(value);
    node_.add_input(tensor.name());
  }

  void operator()(const ConvOp& op) {
    integers("strides", {op.stride_h, op.stride_w});
    integers("dilations", {op.dilation_h, op.dilation_w});
    integer("group", op.groups);
    padding(op.auto_pad, op);
  }
  void operator()(const PoolOp& op) {
    integers("kernel_shape", {op.pool.kernel_h, op.pool.kernel_w});
    integers("strides", {op.pool.stride_h, op.pool.stride_w});
    integer("ceil_mode", op.pool.ceil_mode);
    if (op.pool.kind == PoolKind::max) {
      integers("dilations", {op.pool.dilation_h, op.pool.dilation_w});
    } else {
      if (op.pool.dilation_h != 1 || op.pool.dilation_w != 1) {
        integers("dilations", {op.pool.dilation_h, op.pool.dilation_w});
      }
      integer("count_include_pad", op.pool.count_include_pad);
    }
    padding(op.auto_pad, op.pool);
  }
  void operator()(const ActivationOp& op) {
    if (op.activation.kind == ActivationKind::leaky_relu) real("alpha", op.activation.alpha);
    if (op.activation.kind != ActivationKind::clip) return;
    real_input("min", op.activation.alpha);
    real_input("max", op.activation.beta);
  }
  void operator()(const BatchNormOp& op) { real("epsilon", op.epsilon); }
  void operator()(const GemmOp& op) {
    real("alpha", op.alpha);
    real("beta", op.beta);
    integer("transA", op.transpose_a);
    integer("transB", op.transpose_b);
  }
  void operator()(const ConcatOp& op) { integer("axis", op.axis); }
  void operator()(const FlattenOp& op) { integer("axis", op.axis); }
  void operator()(const ReshapeOp& op) { integer_input("shape", op.shape); }
  void operator()(const SqueezeOp& op) {
    if (!op.axes.empty()) integer_input("axes", op.axes);
  }
  void operator()(const UnsqueezeOp& op) { integer_input("axes", op.axes); }
  void operator()(const TransposeOp& op) {
    if (!op.permutation.empty()) integers("perm", op.permutation);
  }
  void operator()(const SoftmaxOp& op) {
    integer("axis", op.flattened ? -1 : op.axis);
    if (!op.flattened) return;
    // Opset 13 has no Softmax over several dimensions together: they become one before it and are restored after it.
    if (!input_shape_ || std::ranges::count(*input_shape_, -1) > 1) {
      throw bad_input("node '{}': opset {} has no Softmax over several dimensions of an input whose shape is open",
                      node_.name(), kOpset);
    }
    const std::string flat = names_.fresh(node_.output(0) + ".flat"),
                      flat_y = names_.fresh(node_.output(0) + ".flat_y");
    onnx::NodeProto before;
    before.set_name(node_.name() + ".flatten");
    before.set_op_type("Flatten");
    before.add_input(node_.input(0));
    before.add_output(flat);
    add(before, "axis", onnx::AttributeProto::INT).set_i(op.axis);
    node_.set_input(0, flat);
    onnx::NodeProto& after = follow("Reshape", flat_y);
    after.add_input(integer_constant("shape", *input_shape_));
    // The new node goes before the Softmax, which was made first.
    *graph_.add_node() = before;
    for (int i = graph_.node_size() - 1; i > graph_.node_size() - 3; --i) graph_.mutable_node()->SwapElements(i, i - 1);
  }
  void operator()(const PadOp& op) {
    constexpr const char* kModes[] = {"constant", "reflect", "edge"};
    text("mode", kModes[static_cast<int>(op.mode)]);
    integer_input("pads", op.pads);
    if (op.mode == PadMode::constant) real_input("value", op.value);
  }
  void operator()(const RoundOp&) {  // to float16 and back: all values of the file are float32
    integer("to", onnx::TensorProto::FLOAT16);
    onnx::NodeProto& back = follow("Cast", names_.fresh(node_.output(0) + ".float16"));
    add(back, "to", onnx::AttributeProto::INT).set_i(onnx::TensorProto::FLOAT);
  }
  void operator()(const GlobalAveragePoolOp&) {}
  void operator()(const MatMulOp&) {}
  void operator()(const AddOp&) {}
  void operator()(const MulOp&) {}
  void operator()(const ScaleOp&) { refuse(); }
  void operator()(const ArgMaxOp&) { refuse(); }

 private:
  [[noreturn]] void refuse() const {
    throw bad_input("node '{}' is a step of the engine's own, not of a model", node_.name());
  }

  static onnx::AttributeProto& add(onnx::NodeProto& node, const char* name, onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }
  onnx::AttributeProto& add(const char* name, onnx::AttributeProto::AttributeType type) {
    return add(node_, name, type);
  }

  /// Adds a node, which makes the node's output from the node's old output under another name.
  onnx::NodeProto& follow(const char* op_type, const std::string& between) {
    onnx::NodeProto& after = *graph_.add_node();
    after.set_name(node_.name() + ".after");
    after.set_op_type(op_type);
    after.add_input(between);
    after.add_output(node_.output(0));
    node_.set_output(0, between);
    return after;
  }

  onnx::TensorProto& constant(const char* what, onnx::TensorProto::DataType type) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(names_.fresh(node_.output(0) + "." + what));
    tensor.set_data_type(type);
    return tensor;
  }
  const std::string& integer_constant(const char* what, const std::vector<int64_t>& values) {
    onnx::TensorProto& tensor = constant(what, onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<int64_t>(values.size()));
    for (int64_t value : values) tensor.add_int64_data(value);
    return tensor.name();
  }

  template <class Window>
  void padding(AutoPad auto_pad, const Window& window) {
    constexpr const char* kTexts[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
    if (auto_pad != AutoPad::explicit_pads) return text("auto_pad", kTexts[static_cast<int>(auto_pad)]);
    integers("pads", {window.pad_top, window.pad_left, window.pad_bottom, window.pad_right});
  }

  onnx::GraphProto& graph_;
  onnx::NodeProto& node_;
  std::optional<Shape> input_shape_;
  Names& names_;
};

void describe(onnx::ValueInfoProto& info, const std::string& name, const std::optional<Shape>& shape) {
  info.set_name(name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  if (!shape) return;
  type.mutable_shape();
  for (size_t i = 0; i < shape->size(); ++i) {
    auto& size = *type.mutable_shape()->add_dim();
    if ((*shape)[i] >= 0) {
      size.set_dim_value((*shape)[i]);
    } else {
      size.set_dim_param(i == 0 ? "N" : fmt::format("size{}", i));
    }
  }
}

/// Each value's shape, -1 for sizes that change with those that the input leaves open; nullopt if even the rank does.
std::vector<std::optional<Shape>> open_shapes(const Graph& graph) {
  const auto with = [&](int64_t size) {
    Shape input = graph.input_shape;
    for (int64_t& each : input) each = each < 0 ? size : each;
    return infer_shapes(graph, input);
  };
  std::vector<std::optional<Shape>> open(graph.value_names.size());
  try {
    const std::vector<Shape> one = with(1), two = with(2);
    for (size_t value = 0; value < open.size(); ++value) {
      if (one[value].size() != two[value].size()) continue;
      open[value] = one[value];
      for (size_t i = 0; i < one[value].size(); ++i) {
        if (one[value][i] != two[value][i]) (*open[value])[i] = -1;
      }
    }
  } catch (const Error&) {  // these sizes do not fit; others may
  }
  return open;
}

bool averages_dilated(const Node& node) {
  const auto* op = std::get_if<PoolOp>(&node.op);
  return op != nullptr && op->pool.kind == PoolKind::average && (op->pool.dilation_h != 1 || op->pool.dilation_w != 1);
}

}  // namespace

std::vector<uint8_t> export_onnx(const Graph& graph) {
  onnx::ModelProto model;
  const bool dilated = std::ranges::any_of(graph.nodes, averages_dilated);
  model.set_ir_version(dilated ? kDilatedAverageIrVersion : kIrVersion);
  model.set_producer_name("convlab");
  model.add_opset_import()->set_version(dilated ? kDilatedAverageOpset : kOpset);
  for (const auto& [key, value] : graph.metadata) {
    onnx::StringStringEntryProto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  onnx::GraphProto& proto = *model.mutable_graph();
  proto.set_name(graph.name.empty() ? "graph" : graph.name);
  Names names(graph);
  for (const auto& [value, tensor] : graph.constants) {
    onnx::TensorProto& initializer = *proto.add_initializer();
    initializer.set_name(names[value]);
    initializer.set_data_type(onnx::TensorProto::FLOAT);
    for (int64_t size : tensor.shape()) initializer.add_dims(size);
    initializer.set_raw_data(tensor.raw(), tensor.bytes());
  }
  const std::vector<std::optional<Shape>> shapes = open_shapes(graph);
  const auto shape_of = [&](ValueId value) { return shapes[static_cast<size_t>(value)]; };
  for (const Node& node : graph.nodes) {
    NodeWriter writer(proto, node, shape_of(node.inputs.at(0)), names);
    std::visit(writer, node.op);
  }
  std::string output = names[graph.output];
  if (graph.output == graph.input) {  // ONNX needs a node between them
    onnx::NodeProto& identity = *proto.add_node();
    identity.set_op_type("Identity");
    identity.add_input(output);
    output = names.fresh(output);
    identity.add_output(output);
  }
  describe(*proto.add_input(), names[graph.input], graph.input_shape);
  describe(*proto.add_output(), output, shape_of(graph.output));
  std::string bytes;
  if (!model.SerializeToString(&bytes)) {
    throw bad_input("{}: the model takes more than the 2 GiB that an ONNX file may have", graph.name);
  }
  return {bytes.begin(), bytes.end()};
}

}  // namespace convlab
