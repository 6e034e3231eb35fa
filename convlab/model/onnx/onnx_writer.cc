// Writes the nodes, initializers and value infos of an ONNX file.

#include "convlab/model/onnx/onnx_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/model/onnx/onnx_tensor.h"

namespace convlab {
namespace {

using Proto = onnx::TensorProto;
using Type = OnnxWriter::Type;

/// All tools read opset 13. Operators that are newer, or had another form before, are written in the form of opset 21,
/// for which they call need_opset(). Few are newer than that.
constexpr int64_t kOpset = 13;

std::string typed(const std::string& name, Type type) { return fmt::format("{}.{}", name, onnx_type_name(type)); }

Type type_of(ElementType type) { return static_cast<Type>(onnx_type(type)); }

onnx::NodeProto cast_node(const std::string& from, const std::string& to, Type type) {
  onnx::NodeProto cast;
  cast.set_name(to + ".cast");
  cast.set_op_type("Cast");
  cast.add_input(from);
  cast.add_output(to);
  OnnxNodeWriter::attribute(cast, "to", onnx::AttributeProto::INT).set_i(type);
  return cast;
}

/// Returns each value's shape if all dynamic sizes have this size; nullopt if that does not fit.
std::optional<std::vector<Shape>> shapes_for(const Graph& graph, int64_t size) {
  std::vector<Shape> inputs;
  for (const GraphInput& input : graph.inputs) {
    Shape& shape = inputs.emplace_back(input.shape);
    std::ranges::replace(shape, int64_t{-1}, size);
  }
  try {
    return infer_shapes(graph, inputs);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Returns each value's shape. A size is dynamic if it differs between two trials for the dynamic sizes of the inputs.
std::vector<std::optional<Shape>> open_shapes(const Graph& graph) {
  std::vector<std::optional<Shape>> open(graph.value_names.size());
  constexpr std::pair<int64_t, int64_t> kTrials[] = {{1, 2}, {64, 128}, {224, 448}};  // windows need large images
  for (const auto& [small, large] : kTrials) {
    const std::optional<std::vector<Shape>> one = shapes_for(graph, small), two = shapes_for(graph, large);
    if (!one || !two) continue;
    for (size_t value = 0; value < open.size(); ++value) {
      const Shape &first = (*one)[value], &second = (*two)[value];
      if (first.size() != second.size()) continue;
      open[value] = first;
      for (size_t i = 0; i < first.size(); ++i) {
        if (first[i] != second[i]) (*open[value])[i] = -1;
      }
    }
    break;
  }
  return open;
}

/// The batch dimension is named N. Other dynamic dimensions are named after `sizes`, or have no name if it is unknown
/// which of them are equal.
void describe(onnx::ValueInfoProto& info, const std::string& name, Type type, const std::optional<Shape>& shape,
              const std::string& sizes) {
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  if (!shape) return;
  tensor.mutable_shape();
  for (size_t i = 0; i < shape->size(); ++i) {
    auto& size = *tensor.mutable_shape()->add_dim();
    if ((*shape)[i] >= 0) {
      size.set_dim_value((*shape)[i]);
    } else if (i == 0) {
      size.set_dim_param("N");
    } else if (!sizes.empty()) {
      size.set_dim_param(fmt::format("{}{}", sizes, i));
    }
  }
}

}  // namespace

OnnxWriter::OnnxWriter(const Graph& graph) : graph_(graph), names_(graph), shapes_(open_shapes(graph)), opset_(kOpset) {
  for (const GraphInput& input : graph.inputs) {
    const Type type = type_of(input.type);
    declared_[input.value] = type;
    give(input.value, type);
  }
}

const Tensor* OnnxWriter::constant(ValueId value) const {
  const auto found = graph_.constants.find(value);
  return found != graph_.constants.end() ? &found->second : nullptr;
}

std::string OnnxWriter::form_name(ValueId value, Type type) {
  const auto declared = declared_.find(value);
  const bool named = declared != declared_.end() ? declared->second == type : forms_[value].empty();
  return named ? names_[value] : fresh(typed(names_[value], type));
}

std::string OnnxWriter::give(ValueId value, Type type) {
  if (const int output = names_.output_of(value); output >= 0) {
    const Type declared = type_of(graph_.outputs[static_cast<size_t>(output)].type);
    declared_[value] = declared == Proto::UINT8 && type == Proto::BOOL ? type : declared;  // bool is stored as uint8
  }
  std::string name = form_name(value, type);
  forms_[value].emplace_back(type, name);
  return name;
}

std::string OnnxWriter::form(ValueId value, Type type) {
  auto& forms = forms_[value];
  for (const auto& [known, name] : forms) {
    if (known == type) return name;
  }
  if (const Tensor* tensor = constant(value)) {
    const bool real = type == Proto::FLOAT;
    std::string name = real ? names_[value] : add_constant(typed(names_[value], type), type, *tensor);
    if (real) reals_.emplace(value, written_tensor(name, type, *tensor));
    return forms.emplace_back(type, std::move(name)).second;
  }
  std::string name = form_name(value, type);
  add(cast_node(forms.at(0).second, name, type));
  return forms.emplace_back(type, std::move(name)).second;
}

void OnnxWriter::add(onnx::NodeProto node) {
  node.set_name(node_names_.fresh(node.name().empty() ? node.op_type() : node.name()));
  *nodes_.add_node() = std::move(node);
}

std::optional<Type> OnnxWriter::whole_type(ValueId value) const {
  const auto forms = forms_.find(value);
  if (forms != forms_.end() && constant(value) == nullptr) {
    const Type type = forms->second[0].first;
    if (whole_range(type) || type == Proto::INT32) return type;
  }
  const auto found = graph_.whole_types.find(value);
  return found != graph_.whole_types.end() ? std::optional(type_of(found->second)) : std::nullopt;
}

std::string OnnxWriter::add_constant(const std::string& name, Type type, const Tensor& tensor) {
  *nodes_.add_initializer() = written_tensor(fresh(name), type, tensor);
  return nodes_.initializer(nodes_.initializer_size() - 1).name();
}

onnx::GraphProto OnnxWriter::take() {
  write_outputs();
  onnx::GraphProto proto;
  proto.set_name(graph_.name.empty() ? "graph" : graph_.name);
  for (auto& [value, tensor] : reals_) *proto.add_initializer() = std::move(tensor);
  for (onnx::TensorProto& tensor : *nodes_.mutable_initializer()) *proto.add_initializer() = std::move(tensor);
  proto.mutable_node()->Swap(nodes_.mutable_node());
  proto.mutable_output()->Swap(nodes_.mutable_output());
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const GraphInput& input = graph_.inputs[i];
    const std::string sizes = i == 0 ? "size" : names_[input.value] + ".size";
    describe(*proto.add_input(), names_[input.value], declared_[input.value], input.shape, sizes);
  }
  return proto;
}

void OnnxWriter::write_outputs() {
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    const GraphOutput& output = graph_.outputs[i];
    const bool itself = names_.output_of(output.value) == static_cast<int>(i);
    const Type type = itself ? declared_[output.value] : type_of(output.type);
    const std::string name = form(output.value, type);
    if (!itself) {  // ONNX needs a node between an input and an output, and between two outputs
      onnx::NodeProto identity;
      identity.set_op_type("Identity");
      identity.add_input(name);
      identity.add_output(names_.output(i));
      add(std::move(identity));
    }
    describe(*nodes_.add_output(), names_.output(i), type, shape(output.value), "");
  }
}

}  // namespace convlab
