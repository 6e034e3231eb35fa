#include "convlab/model/onnx_node.h"

#include <cmath>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/limits.h"
#include "convlab/model/onnx.pb.h"
#include "convlab/model/onnx_tensor.h"

namespace convlab {

OnnxNode::OnnxNode(const onnx::NodeProto& proto, int64_t opset, std::vector<const OnnxValue*> inputs)
    : proto_(proto), opset_(opset), inputs_(std::move(inputs)) {
  while (!inputs_.empty() && inputs_.back() == nullptr) inputs_.pop_back();
  std::set<std::string_view> names;
  for (const onnx::AttributeProto& attribute : proto_.attribute()) {
    if (!names.insert(attribute.name()).second) {
      throw bad_input("attribute '{}' is given twice", printable(attribute.name()));
    }
    if (!attribute.ref_attr_name().empty()) {
      throw bad_input("attribute '{}' is that of a function, which is not supported", printable(attribute.name()));
    }
  }
}

const onnx::AttributeProto* OnnxNode::find(std::string_view name) const {
  read_.emplace(name);
  for (const onnx::AttributeProto& attribute : proto_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

const onnx::AttributeProto* OnnxNode::find(std::string_view name, int type, std::string_view type_name) const {
  const onnx::AttributeProto* attribute = find(name);
  if (attribute != nullptr && attribute->type() != type) throw bad_input("attribute '{}' is not {}", name, type_name);
  return attribute;
}

int64_t OnnxNode::integer(std::string_view name, int64_t otherwise) const {
  const onnx::AttributeProto* attribute = find(name, onnx::AttributeProto::INT, "an integer");
  return attribute != nullptr ? attribute->i() : otherwise;
}

int64_t OnnxNode::integer(std::string_view name) const {
  if (!has(name)) throw bad_input("attribute '{}' is missing", name);
  return integer(name, 0);
}

bool OnnxNode::flag(std::string_view name, bool otherwise) const {
  const int64_t value = integer(name, otherwise ? 1 : 0);
  if (value != 0 && value != 1) throw bad_input("attribute '{}' is {}; it must be 0 or 1", name, value);
  return value == 1;
}

float OnnxNode::real(std::string_view name, float otherwise) const {
  const onnx::AttributeProto* attribute = find(name, onnx::AttributeProto::FLOAT, "a float");
  if (attribute == nullptr) return otherwise;
  if (std::isnan(attribute->f())) throw bad_input("attribute '{}' is NaN", name);
  return attribute->f();
}

std::string OnnxNode::text(std::string_view name, std::string_view otherwise) const {
  const onnx::AttributeProto* attribute = find(name, onnx::AttributeProto::STRING, "a string");
  return attribute != nullptr ? printable(attribute->s()) : std::string(otherwise);
}

std::vector<int64_t> OnnxNode::integers(std::string_view name) const {
  const onnx::AttributeProto* attribute = find(name, onnx::AttributeProto::INTS, "a list of integers");
  if (attribute == nullptr) return {};
  return {attribute->ints().begin(), attribute->ints().end()};
}

std::vector<float> OnnxNode::reals(std::string_view name) const {
  const onnx::AttributeProto* attribute = find(name, onnx::AttributeProto::FLOATS, "a list of floats");
  if (attribute == nullptr) return {};
  for (float value : attribute->floats()) {
    if (std::isnan(value)) throw bad_input("attribute '{}' holds NaN", name);
  }
  return {attribute->floats().begin(), attribute->floats().end()};
}

Tensor OnnxNode::tensor(std::string_view name) const {
  const onnx::AttributeProto* attribute = find(name, onnx::AttributeProto::TENSOR, "a tensor");
  if (attribute == nullptr) throw bad_input("attribute '{}' is missing", name);
  return read_tensor(attribute->t());
}

void OnnxNode::check_all_read() const {
  for (const onnx::AttributeProto& attribute : proto_.attribute()) {
    if (!read_.contains(attribute.name())) {
      throw bad_input("attribute '{}' is unknown or not supported", printable(attribute.name()));
    }
  }
}

void OnnxNode::check_inputs(size_t least, size_t most) const {
  if (inputs_.size() > most) throw bad_input("it has {} inputs; it takes {} at most", inputs_.size(), most);
  for (size_t i = 0; i < least; ++i) {
    if (!has_input(i)) throw bad_input("its input {} is missing", i);
  }
}

const Tensor& OnnxNode::constant(size_t i, std::string_view what) const {
  const OnnxValue& value = input(i);
  if (!value.constant) {
    throw bad_input("{} ('{}') is computed by the model; it must be a constant", what, printable(value.name));
  }
  return *value.constant;
}

std::vector<int64_t> OnnxNode::constant_integers(size_t i, std::string_view what) const {
  if (!has_input(i)) return {};
  const Tensor& tensor = constant(i, what);
  if (tensor.type() != ElementType::i64) throw bad_input("{} is {}; it must be int64", what, name_of(tensor.type()));
  if (tensor.shape().size() > 1)
    throw bad_input("{} has the shape {}; it must be a list", what, to_text(tensor.shape()));
  constexpr int64_t kMostNumbers = 2 * kMostRank;  // pads take two per dimension; each node keeps its own
  if (tensor.count() > kMostNumbers) {
    throw bad_input("{} has {} numbers; {} are supported", what, tensor.count(), kMostNumbers);
  }
  const auto values = tensor.values<int64_t>();
  return {values.begin(), values.end()};
}

float OnnxNode::constant_real(size_t i, std::string_view what, float otherwise) const {
  if (!has_input(i)) return otherwise;
  const Tensor& tensor = constant(i, what);
  if (tensor.type() != ElementType::f32 && tensor.type() != ElementType::f16) {
    throw bad_input("{} is {}; it must be float32 or float16", what, name_of(tensor.type()));
  }
  if (tensor.count() != 1) throw bad_input("{} has the shape {}; it must be one number", what, to_text(tensor.shape()));
  return converted(tensor, ElementType::f32).values<float>()[0];
}

}  // namespace convlab
