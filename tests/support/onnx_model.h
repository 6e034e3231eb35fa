#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/tensor/shape.h"

namespace convlab {

/// Builds ONNX models by hand, with one call for each common part of a .onnx file. Use `proto` for everything else.
class OnnxModel {
 public:
  static constexpr int kFloat = onnx::TensorProto::FLOAT, kHalf = onnx::TensorProto::FLOAT16;

  explicit OnnxModel(int64_t opset) {
    proto.set_ir_version(8);
    proto.add_opset_import()->set_version(opset);
    proto.mutable_graph()->set_name("test");
  }

  onnx::GraphProto& graph() { return *proto.mutable_graph(); }

  OnnxModel& input(const std::string& name, const Shape& shape, int type = kFloat) {
    describe(*graph().add_input(), name, shape, type);
    return *this;
  }
  OnnxModel& output(const std::string& name) {
    describe(*graph().add_output(), name, {}, kFloat);
    return *this;
  }

  /// A tensor with its data in the type's own field (float_data).
  static onnx::TensorProto floats(const Shape& shape, const std::vector<float>& values) {
    onnx::TensorProto tensor = typed(shape, kFloat);
    for (float value : values) tensor.add_float_data(value);
    return tensor;
  }
  static onnx::TensorProto integers(const Shape& shape, const std::vector<int64_t>& values) {
    onnx::TensorProto tensor = typed(shape, onnx::TensorProto::INT64);
    for (int64_t value : values) tensor.add_int64_data(value);
    return tensor;
  }
  /// A tensor of any type, with its elements in raw_data.
  template <class T>
  static onnx::TensorProto raw(const Shape& shape, int type, const std::vector<T>& values) {
    onnx::TensorProto tensor = typed(shape, type);
    tensor.set_raw_data(values.data(), values.size() * sizeof(T));
    return tensor;
  }
  /// A float32 tensor of ones.
  static onnx::TensorProto ones(const Shape& shape) {
    return floats(shape, std::vector<float>(static_cast<size_t>(element_count(shape)), 1.0f));
  }

  OnnxModel& initializer(const std::string& name, onnx::TensorProto tensor) {
    tensor.set_name(name);
    *graph().add_initializer() = std::move(tensor);
    return *this;
  }

  /// Adds a node named "the_node" or, for a model's k-th, "the_node_k". set(), list() and reals() add attributes to it.
  OnnxModel& node(const std::string& op, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs) {
    onnx::NodeProto& node = *graph().add_node();
    const int count = graph().node_size();
    node.set_name(count == 1 ? "the_node" : "the_node_" + std::to_string(count));
    node.set_op_type(op);
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return *this;
  }
  OnnxModel& set(const std::string& name, int64_t value) {
    attribute(name, onnx::AttributeProto::INT).set_i(value);
    return *this;
  }
  OnnxModel& set(const std::string& name, float value) {
    attribute(name, onnx::AttributeProto::FLOAT).set_f(value);
    return *this;
  }
  OnnxModel& set(const std::string& name, const char* value) {
    attribute(name, onnx::AttributeProto::STRING).set_s(value);
    return *this;
  }
  OnnxModel& list(const std::string& name, const std::vector<int64_t>& values) {
    auto& attribute = this->attribute(name, onnx::AttributeProto::INTS);
    for (int64_t value : values) attribute.add_ints(value);
    return *this;
  }
  OnnxModel& reals(const std::string& name, const std::vector<float>& values) {
    auto& attribute = this->attribute(name, onnx::AttributeProto::FLOATS);
    for (float value : values) attribute.add_floats(value);
    return *this;
  }
  OnnxModel& set(const std::string& name, const onnx::TensorProto& value) {
    *attribute(name, onnx::AttributeProto::TENSOR).mutable_t() = value;
    return *this;
  }
  onnx::AttributeProto& attribute(const std::string& name, onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto& attribute = *graph().mutable_node(graph().node_size() - 1)->add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }

  std::vector<uint8_t> bytes() const {
    const std::string text = proto.SerializeAsString();
    return {text.begin(), text.end()};
  }

  onnx::ModelProto proto;

 private:
  static onnx::TensorProto typed(const Shape& shape, int type) {
    onnx::TensorProto tensor;
    tensor.set_data_type(type);
    for (int64_t size : shape) tensor.add_dims(size);
    return tensor;
  }

  /// A size of -1 becomes a dynamic size: the first one is named "N", others have no name.
  static void describe(onnx::ValueInfoProto& info, const std::string& name, const Shape& shape, int type) {
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      auto& dimension = *tensor.mutable_shape()->add_dim();
      if (shape[axis] != -1) {
        dimension.set_dim_value(shape[axis]);
      } else if (axis == 0) {
        dimension.set_dim_param("N");
      }
    }
  }
};

}  // namespace convlab
