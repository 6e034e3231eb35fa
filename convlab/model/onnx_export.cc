#include "convlab/model/onnx_export.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>

#include "convlab/base/error.h"
#include "onnx/onnx.pb.h"

namespace convlab {
namespace {

constexpr int64_t kOpset = 13, kIrVersion = 8;

/// Names for the values of a file: the graph's own, but each once. (They repeat after Identity and the like were
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

/// Writes one node, and initializers for the constants that opset 13 wants as inputs.
class NodeWriter {
 public:
  NodeWriter(onnx::GraphProto& graph, const Node& node, Names& names)
      : graph_(graph), node_(*graph.add_node()), names_(names) {
    node_.set_name(node.name);
    node_.set_op_type(name_of(node.op));
    for (ValueId input : node.inputs) node_.add_input(names[input]);
    node_.add_output(names[node.output]);
  }

  void integer(const char* name, int64_t value) { set_integer(node_, name, value); }
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
    onnx::TensorProto& tensor = constant(what, onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<int64_t>(values.size()));
    for (int64_t value : values) tensor.add_int64_data(value);
  }

  /// A further input, a constant scalar.
  void real_input(const char* what, float value) { constant(what, onnx::TensorProto::FLOAT).add_float_data(value); }

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
    } else if (op.pool.dilation_h != 1 || op.pool.dilation_w != 1) {
      throw bad_input("node '{}': opset {} has no dilated average pooling", node_.name(), kOpset);
    } else {
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
    // Over the last dimension alone flattening means nothing, and the importers do not say it then.
    if (op.flattened) {
      throw bad_input("node '{}': opset {} has no Softmax over several dimensions together", node_.name(), kOpset);
    }
    integer("axis", op.axis);
  }
  void operator()(const PadOp& op) {
    constexpr const char* kModes[] = {"constant", "reflect", "edge"};
    text("mode", kModes[static_cast<int>(op.mode)]);
    integer_input("pads", op.pads);
    if (op.mode == PadMode::constant) real_input("value", op.value);
  }
  void operator()(const RoundOp&) {  // to float16 and back: all values of the file are float32
    const std::string rounded = names_.fresh(node_.output(0) + ".float16");
    onnx::NodeProto& back = *graph_.add_node();
    back.set_name(node_.name() + ".back");
    back.set_op_type("Cast");
    back.add_input(rounded);
    back.add_output(node_.output(0));
    set_integer(back, "to", onnx::TensorProto::FLOAT);
    node_.set_output(0, rounded);
    integer("to", onnx::TensorProto::FLOAT16);
  }
  void operator()(const GlobalAveragePoolOp&) {}
  void operator()(const MatMulOp&) {}
  void operator()(const AddOp&) {}
  void operator()(const MulOp&) {}

 private:
  static onnx::AttributeProto& add(onnx::NodeProto& node, const char* name, onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }
  onnx::AttributeProto& add(const char* name, onnx::AttributeProto::AttributeType type) {
    return add(node_, name, type);
  }
  static void set_integer(onnx::NodeProto& node, const char* name, int64_t value) {
    add(node, name, onnx::AttributeProto::INT).set_i(value);
  }

  onnx::TensorProto& constant(const char* what, onnx::TensorProto::DataType type) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(names_.fresh(node_.output(0) + "." + what));
    tensor.set_data_type(type);
    node_.add_input(tensor.name());
    return tensor;
  }

  template <class Window>
  void padding(AutoPad auto_pad, const Window& window) {
    constexpr const char* kTexts[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
    if (auto_pad != AutoPad::explicit_pads) return text("auto_pad", kTexts[static_cast<int>(auto_pad)]);
    integers("pads", {window.pad_top, window.pad_left, window.pad_bottom, window.pad_right});
  }

  onnx::GraphProto& graph_;
  onnx::NodeProto& node_;
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

/// The output's shape, open where it changes with the batch; nullopt where the sizes that the input leaves open decide.
std::optional<Shape> output_shape(const Graph& graph) {
  const auto with = [&](int64_t size) {
    Shape input = graph.input_shape;
    for (int64_t& each : input) each = each < 0 ? size : each;
    return infer_shapes(graph, input)[static_cast<size_t>(graph.output)];
  };
  try {
    Shape one = with(1);
    const Shape two = with(2);
    if (one.size() != two.size()) return std::nullopt;
    for (size_t i = 0; i < one.size(); ++i) {
      if (one[i] != two[i]) one[i] = -1;
    }
    return one;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<uint8_t> export_onnx(const Graph& graph) {
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("convlab");
  model.add_opset_import()->set_version(kOpset);
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
  for (const Node& node : graph.nodes) {
    NodeWriter writer(proto, node, names);
    std::visit(writer, node.op);
  }
  describe(*proto.add_input(), names[graph.input], graph.input_shape);
  describe(*proto.add_output(), names[graph.output], output_shape(graph));
  std::string bytes;
  if (!model.SerializeToString(&bytes)) {
    throw bad_input("{}: the model takes more than the 2 GiB that an ONNX file may have", graph.name);
  }
  return {bytes.begin(), bytes.end()};
}

}  // namespace convlab
