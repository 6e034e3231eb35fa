// Writes single nodes of an ONNX file.

#include <fmt/format.h>

#include "convlab/model/onnx/onnx_writer.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

OnnxNodeWriter::OnnxNodeWriter(OnnxWriter& writer, const Node& node) : writer_(writer), node_(node) {
  proto_.set_name(node.name);
  proto_.set_op_type(name_of(node.op));
}

onnx::AttributeProto& OnnxNodeWriter::attribute(onnx::NodeProto& node, const char* name,
                                                onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

void OnnxNodeWriter::integer(const char* name, int64_t value) {
  attribute(name, onnx::AttributeProto::INT).set_i(value);
}

void OnnxNodeWriter::real(const char* name, float value) { attribute(name, onnx::AttributeProto::FLOAT).set_f(value); }

void OnnxNodeWriter::text(const char* name, const std::string& value) {
  attribute(name, onnx::AttributeProto::STRING).set_s(value);
}

void OnnxNodeWriter::integers(const char* name, const std::vector<int64_t>& values) {
  onnx::AttributeProto& list = attribute(name, onnx::AttributeProto::INTS);
  for (const int64_t value : values) list.add_ints(value);
}

void OnnxNodeWriter::operand(Type type) { proto_.add_input(writer_.form(node_.inputs.at(next_++), type)); }

void OnnxNodeWriter::operand_as(const std::string& name) {
  ++next_;
  proto_.add_input(name);
}

void OnnxNodeWriter::operands(Type type) {
  while (operands_left() > 0) operand(type);
}

void OnnxNodeWriter::no_input() {
  operands();
  proto_.add_input("");
}

void OnnxNodeWriter::constant_input(const char* what, Type type, const Tensor& tensor) {
  operands();
  proto_.add_input(writer_.add_constant(fmt::format("{}.{}", writer_.name(node_.output), what), type, tensor));
}

void OnnxNodeWriter::integer_input(const char* what, const std::vector<int64_t>& values) {
  constant_input(what, onnx::TensorProto::INT64, Tensor::of<int64_t>({std::ssize(values)}, values));
}

void OnnxNodeWriter::single_integer_input(const char* what, int64_t value) {
  constant_input(what, onnx::TensorProto::INT64, Tensor::of<int64_t>({}, {{value}}));
}

void OnnxNodeWriter::real_input(const char* what, float value) {
  constant_input(what, onnx::TensorProto::FLOAT, Tensor::of<float>({}, {{value}}));
}

void OnnxNodeWriter::reals_input(const char* what, const std::vector<float>& values) {
  constant_input(what, onnx::TensorProto::FLOAT, Tensor::of<float>({std::ssize(values)}, values));
}

void OnnxNodeWriter::unread_output(const char* what) {
  proto_.add_output(writer_.fresh(fmt::format("{}.{}", writer_.name(node_.output), what)));
}

onnx::NodeProto& OnnxNodeWriter::then(const char* op_type, const std::string& between) {
  proto_.add_output(between);
  after_.emplace();
  after_->set_name(node_.name + ".after");
  after_->set_op_type(op_type);
  after_->add_input(between);
  return *after_;
}

void OnnxNodeWriter::done() {
  operands();
  const std::string output = writer_.give(node_.output, gives_);
  if (!after_) return done_as(output);
  writer_.add(std::move(proto_));
  after_->add_output(output);
  writer_.add(std::move(*after_));
}

void OnnxNodeWriter::done_as(const std::string& output) {
  operands();
  proto_.add_output(output);
  if (last_output_ != nullptr) unread_output(last_output_);
  writer_.add(std::move(proto_));
}

}  // namespace convlab
