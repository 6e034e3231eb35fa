#include "convlab/model/onnx_import.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "convlab/model/onnx_node.h"
#include "convlab/model/onnx_tensor.h"
#include "onnx/onnx.pb.h"

namespace convlab {
namespace {

constexpr int64_t kLeastOpset = 7, kMostOpset = 21;

int64_t opset_of(const onnx::ModelProto& model) {
  for (const onnx::OperatorSetIdProto& set : model.opset_import()) {
    if (!set.domain().empty() && set.domain() != "ai.onnx") continue;
    if (set.version() < kLeastOpset || set.version() > kMostOpset) {
      throw bad_input("opset {} is not supported; {} to {} are", set.version(), kLeastOpset, kMostOpset);
    }
    return set.version();
  }
  throw bad_input("names no opset of ONNX's own operators");
}

/// Weights with NaN would make every answer NaN, and no error elsewhere.
void require_numbers(const Tensor& tensor, const std::string& name) {
  if (tensor.type() != ElementType::f32 && tensor.type() != ElementType::f16 && tensor.type() != ElementType::f64)
    return;
  const Tensor floats = converted(tensor, ElementType::f32);
  const auto values = floats.values<float>();
  const auto at = std::find_if(values.begin(), values.end(), [](float value) { return std::isnan(value); });
  if (at != values.end()) throw bad_input("tensor '{}' holds NaN at element {}", name, at - values.begin());
}

void read_initializers(const onnx::GraphProto& graph, OnnxState& state) {
  if (graph.sparse_initializer_size() > 0) throw bad_input("sparse initializers are not supported");
  for (const onnx::TensorProto& proto : graph.initializer()) {
    if (proto.name().empty()) throw bad_input("an initializer has no name");
    if (state.defined(proto.name())) throw bad_input("initializer '{}' is defined twice", proto.name());
    Tensor tensor = onnx_tensor(proto, proto.name());
    require_numbers(tensor, proto.name());
    state.constants[proto.name()] = std::move(tensor);
  }
}

void read_input(const onnx::GraphProto& graph, OnnxState& state) {
  const onnx::ValueInfoProto* input = nullptr;
  for (const onnx::ValueInfoProto& each : graph.input()) {
    if (state.constants.contains(each.name())) continue;  // before IR version 4 initializers are listed here, too
    if (input != nullptr)
      throw bad_input("has several inputs, '{}' and '{}'; one is supported", input->name(), each.name());
    input = &each;
  }
  if (input == nullptr) throw bad_input("has no input");
  if (!input->type().has_tensor_type()) throw bad_input("input '{}' is not a tensor", input->name());
  const auto& type = input->type().tensor_type();
  const std::set<int> kTypes{onnx::TensorProto::FLOAT, onnx::TensorProto::FLOAT16, onnx::TensorProto::DOUBLE,
                             onnx::TensorProto::UINT8};
  if (!kTypes.contains(type.elem_type())) {
    throw bad_input("input '{}' is of element type {}; floats and uint8 are supported", input->name(),
                    type.elem_type());
  }
  if (!type.has_shape()) throw bad_input("input '{}' has no shape", input->name());
  for (const auto& size : type.shape().dim()) {
    state.graph.input_shape.push_back(size.has_dim_value() && size.dim_value() > 0 ? size.dim_value() : -1);
  }
  state.graph.input = state.graph.add_value(input->name());
  state.values[input->name()] = state.graph.input;
}

void read_nodes(const onnx::GraphProto& graph, OnnxState& state) {
  for (const onnx::NodeProto& proto : graph.node()) {
    try {
      if (!proto.domain().empty() && proto.domain() != "ai.onnx") {
        throw bad_input("operators of domain '{}' are not supported", proto.domain());
      }
      OnnxNode node(proto, state);
      import_onnx_node(node, proto.op_type());
    } catch (const Error& error) {
      const std::string output = proto.output_size() > 0 ? proto.output(0) : "";
      throw bad_input("node '{}' ({}, opset {}): {}", proto.name().empty() ? output : proto.name(), proto.op_type(),
                      state.opset, error.what());
    }
  }
}

/// Drops nodes that the output does not depend on, such as what remains of a training graph.
void drop_unused_nodes(Graph& graph) {
  std::set<ValueId> wanted{graph.output};
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (!wanted.contains(node->output)) continue;
    wanted.insert(node->inputs.begin(), node->inputs.end());
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
  if (!wanted.contains(graph.input)) throw bad_input("the output does not depend on the input");
}

Graph read_model(const onnx::ModelProto& model) {
  OnnxState state;
  state.opset = opset_of(model);
  if (model.functions_size() > 0) throw bad_input("model-local functions are not supported");
  const onnx::GraphProto& graph = model.graph();
  read_initializers(graph, state);
  read_input(graph, state);
  read_nodes(graph, state);
  if (graph.output_size() != 1) throw bad_input("has {} outputs; one is supported", graph.output_size());
  state.graph.output = state.value(graph.output(0).name());
  drop_unused_nodes(state.graph);
  state.graph.name = graph.name();
  for (const onnx::StringStringEntryProto& entry : model.metadata_props()) {
    state.graph.metadata[entry.key()] = entry.value();
  }
  return std::move(state.graph);
}

}  // namespace

Graph import_onnx(std::span<const uint8_t> bytes, std::string_view name) {
  onnx::ModelProto model;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw bad_input("{}: not an ONNX model, or a damaged one: its {} bytes are no valid protobuf message", name,
                    bytes.size());
  }
  if (!model.has_graph()) throw bad_input("{}: not an ONNX model: it has no graph", name);
  try {
    return read_model(model);
  } catch (const Error& error) {
    throw bad_input("{}: {}", name, error.what());
  }
}

}  // namespace convlab
