// Typed access to the attributes and inputs of an ONNX node.

#include "convlab/model/onnx/onnx_node.h"

#include <cmath>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/graph_limits.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_images.h"
#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/shapes.h"

namespace convlab {

OnnxNode::OnnxNode(const onnx::NodeProto& proto, int64_t opset, std::vector<const OnnxValue*> inputs,
                   ExternalFiles& files)
    : proto_(proto), opset_(opset), inputs_(std::move(inputs)), files_(files) {
  while (!inputs_.empty() && inputs_.back() == nullptr) inputs_.pop_back();
  std::set<std::string_view> names;
  for (const onnx::AttributeProto& attribute : proto_.attribute()) {
    if (!names.insert(attribute.name()).second) {
      throw bad_input("attribute '{}' appears twice", printable(attribute.name()));
    }
    if (!attribute.ref_attr_name().empty()) {
      throw bad_input("attribute '{}' refers to a function attribute outside a function", printable(attribute.name()));
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
  if (attribute != nullptr && attribute->type() != type) throw bad_input("attribute '{}' must be {}", name, type_name);
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
  if (value != 0 && value != 1) throw bad_input("attribute '{}' must be 0 or 1, got {}", name, value);
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
    if (std::isnan(value)) throw bad_input("attribute '{}' contains NaN", name);
  }
  return {attribute->floats().begin(), attribute->floats().end()};
}

Tensor OnnxNode::tensor(std::string_view name) const {
  const onnx::AttributeProto* attribute = find(name, onnx::AttributeProto::TENSOR, "a tensor");
  if (attribute == nullptr) throw bad_input("attribute '{}' is missing", name);
  return read_tensor(attribute->t(), files_);
}

void OnnxNode::check_all_read() const {
  for (const onnx::AttributeProto& attribute : proto_.attribute()) {
    if (!read_.contains(attribute.name())) {
      throw bad_input("attribute '{}' is unknown or not supported", printable(attribute.name()));
    }
  }
}

void OnnxNode::check_inputs(size_t least, size_t most) const {
  if (inputs_.size() > most) throw bad_input("too many inputs: expected at most {}, got {}", most, inputs_.size());
  for (size_t i = 0; i < least; ++i) input(i);
}

const OnnxValue& OnnxNode::input(size_t i) const {
  if (!has_input(i)) throw bad_input("input {} is missing", i);
  return *inputs_[i];
}

size_t OnnxNode::output_count() const { return static_cast<size_t>(proto_.output_size()); }

bool OnnxNode::has_output(size_t i) const { return i < output_count() && !proto_.output(static_cast<int>(i)).empty(); }

int64_t OnnxNode::rank(size_t i) const {
  if (!input(i).rank) {
    throw open_size("the number of dimensions of input '{}' is unknown", printable(input(i).name));
  }
  return *input(i).rank;
}

const ByTrial<Shape>& OnnxNode::shapes(size_t i) const {
  const OnnxValue& value = input(i);
  if (!value.shapes) {
    throw open_size("the shape of input '{}' is unknown: the model leaves sizes dynamic", printable(value.name));
  }
  return *value.shapes;
}

OnnxSize OnnxNode::size_along(size_t i, int64_t axis) const {
  const ByTrial<Shape>& shapes = this->shapes(i);
  const auto at = static_cast<size_t>(normalized_axis(axis, rank(i)));
  return {{shapes[0][at], shapes[1][at]}};
}

const Tensor& OnnxNode::constant(size_t i, std::string_view what) const {
  const OnnxValue& value = input(i);
  if (value.trial) {
    throw open_size("{} ('{}') must be constant, but it depends on the batch size", what, printable(value.name));
  }
  if (!value.constant) {
    throw bad_input("{} ('{}') must be constant, but the model computes it", what, printable(value.name));
  }
  return *value.constant;
}

namespace {

/// Returns a list of integers, which the node stores as its own copy.
std::vector<int64_t> integers_of(const Tensor& tensor, std::string_view what, int64_t most) {
  const ElementType type = tensor.type();
  if (type != ElementType::i64 && type != ElementType::i32) {
    throw bad_input("{} must be int64 or int32, got {}", what, name_of(type));
  }
  if (tensor.shape().size() > 1) {
    throw bad_input("{} must have at most one dimension, got shape {}", what, to_text(tensor.shape()));
  }
  if (tensor.count() > most) throw bad_input("{} must have at most {} values, got {}", what, most, tensor.count());
  const Tensor wide = converted(tensor, ElementType::i64);
  const auto values = wide.values<int64_t>();
  return {values.begin(), values.end()};
}

}  // namespace

std::vector<int64_t> OnnxNode::constant_integers(size_t i, std::string_view what, int64_t most) const {
  return has_input(i) ? integers_of(constant(i, what), what, most) : std::vector<int64_t>();
}

std::vector<OnnxSize> OnnxNode::sizes(size_t i, std::string_view what) const {
  std::vector<OnnxSize> sizes;
  if (!has_input(i)) return sizes;
  const OnnxValue& value = input(i);
  const bool by_trial = value.trial.has_value();
  const std::vector<int64_t> first = integers_of(by_trial ? (*value.trial)[0] : constant(i, what), what, kMostNumbers);
  const std::vector<int64_t> second = by_trial ? integers_of((*value.trial)[1], what, kMostNumbers) : first;
  if (first.size() != second.size()) throw open_size("the number of values of {} depends on the batch size", what);
  for (size_t k = 0; k < first.size(); ++k) sizes.push_back({{first[k], second[k]}});
  return sizes;
}

float OnnxNode::constant_real(size_t i, std::string_view what, float otherwise) const {
  if (!has_input(i)) return otherwise;
  const Tensor& tensor = constant(i, what);
  if (tensor.count() != 1) throw bad_input("{} must be one number, got shape {}", what, to_text(tensor.shape()));
  return converted(tensor, ElementType::f32).values<float>()[0];
}

}  // namespace convlab
