#include "convlab/model/onnx_node.h"

#include "convlab/model/onnx_tensor.h"
#include "onnx/onnx.pb.h"

namespace convlab {

ValueId OnnxState::value(const std::string& name) {
  if (const auto found = values.find(name); found != values.end()) return found->second;
  const auto constant = constants.find(name);
  if (constant == constants.end()) {
    throw bad_input("'{}' is not defined by the model's input, an initializer or an earlier node's first output", name);
  }
  const ElementType type = constant->second.type();
  if (type != ElementType::f32 && type != ElementType::f16 && type != ElementType::f64) {
    throw bad_input("'{}' is a constant of {}, and is used as data; only floats are", name, name_of(type));
  }
  const ValueId value = graph.add_value(name);
  graph.constants[value] = converted(constant->second, ElementType::f32);
  return values[name] = value;
}

OnnxNode::OnnxNode(const onnx::NodeProto& proto, OnnxState& state) : proto_(proto), state_(state) {}

const onnx::AttributeProto* OnnxNode::attribute(const std::string& attribute) {
  read_.insert(attribute);
  for (const onnx::AttributeProto& each : proto_.attribute()) {
    if (each.name() == attribute) return &each;
  }
  return nullptr;
}

namespace {

void require_type(const onnx::AttributeProto& attribute, onnx::AttributeProto::AttributeType type) {
  if (attribute.type() != type) {
    throw bad_input("attribute {} is not of type {}", attribute.name(), onnx::AttributeProto::AttributeType_Name(type));
  }
}

}  // namespace

int64_t OnnxNode::integer(const std::string& name, int64_t otherwise) {
  const onnx::AttributeProto* found = attribute(name);
  if (found == nullptr) return otherwise;
  require_type(*found, onnx::AttributeProto::INT);
  return found->i();
}

float OnnxNode::real(const std::string& name, float otherwise) {
  const onnx::AttributeProto* found = attribute(name);
  if (found == nullptr) return otherwise;
  require_type(*found, onnx::AttributeProto::FLOAT);
  return found->f();
}

std::string OnnxNode::text(const std::string& name, const std::string& otherwise) {
  const onnx::AttributeProto* found = attribute(name);
  if (found == nullptr) return otherwise;
  require_type(*found, onnx::AttributeProto::STRING);
  return found->s();
}

std::vector<int64_t> OnnxNode::integers(const std::string& name, std::vector<int64_t> otherwise) {
  const onnx::AttributeProto* found = attribute(name);
  if (found == nullptr) return otherwise;
  require_type(*found, onnx::AttributeProto::INTS);
  return {found->ints().begin(), found->ints().end()};
}

size_t OnnxNode::input_count() const { return static_cast<size_t>(proto_.input_size()); }

bool OnnxNode::has_input(size_t i) const { return i < input_count() && !input_name(i).empty(); }

const std::string& OnnxNode::input_name(size_t i) const { return proto_.input(static_cast<int>(i)); }

void OnnxNode::require_inputs(size_t least, size_t most) const {
  if (input_count() < least || input_count() > most) {
    throw bad_input("has {} inputs; {} to {} are wanted", input_count(), least, most);
  }
  for (size_t i = 0; i < least; ++i) {
    if (input_name(i).empty()) throw bad_input("input {} is missing", i);
  }
}

std::vector<ValueId> OnnxNode::inputs(size_t first, size_t end) {
  std::vector<ValueId> values;
  for (size_t i = first; i < end; ++i) {
    if (has_input(i)) values.push_back(state_.value(input_name(i)));
  }
  return values;
}

const Tensor* OnnxNode::constant(size_t i) const {
  if (!has_input(i)) return nullptr;
  const auto found = state_.constants.find(input_name(i));
  return found == state_.constants.end() ? nullptr : &found->second;
}

std::vector<int64_t> OnnxNode::constant_integers(size_t i, const char* what) const {
  const Tensor* tensor = constant(i);
  if (tensor == nullptr) throw bad_input("{} must be constant, and '{}' is computed", what, input_name(i));
  if (tensor->type() != ElementType::i64 && tensor->type() != ElementType::i32) {
    throw bad_input("{} must be integers, and '{}' is {}", what, input_name(i), name_of(tensor->type()));
  }
  const Tensor integers = converted(*tensor, ElementType::i64);
  const auto values = integers.values<int64_t>();
  return {values.begin(), values.end()};
}

float OnnxNode::constant_real(size_t i, const char* what) const {
  const Tensor* tensor = constant(i);
  if (tensor == nullptr) throw bad_input("{} must be constant, and '{}' is computed", what, input_name(i));
  if (tensor->count() != 1) throw bad_input("{} must be one number, not {}", what, to_text(tensor->shape()));
  return converted(*tensor, ElementType::f32).values<float>()[0];
}

const std::string& OnnxNode::output_name() const {
  static const std::string kNone;
  const std::string& name = proto_.output_size() > 0 ? proto_.output(0) : kNone;
  if (name.empty()) throw bad_input("has no output");
  if (state_.defined(name)) throw bad_input("output '{}' is defined twice", name);
  return name;
}

void OnnxNode::define(Op op, std::vector<ValueId> inputs) {
  const std::string& output = output_name();
  const ValueId value = state_.graph.add_value(output);
  state_.values[output] = value;
  const std::string name = proto_.name().empty() ? output : proto_.name();
  state_.graph.nodes.push_back({name, std::move(op), std::move(inputs), value});
}

void OnnxNode::define_constant(Tensor tensor) { state_.constants[output_name()] = std::move(tensor); }

void OnnxNode::define_alias(size_t input) {
  if (const Tensor* tensor = constant(input)) return define_constant(tensor->clone());
  const ValueId value = state_.value(input_name(input));
  state_.values[output_name()] = value;
}

std::vector<std::string> OnnxNode::unread() const {
  std::vector<std::string> names;
  for (const onnx::AttributeProto& each : proto_.attribute()) {
    if (!read_.contains(each.name())) names.push_back(each.name());
  }
  return names;
}

}  // namespace convlab
