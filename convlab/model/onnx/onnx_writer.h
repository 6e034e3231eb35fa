#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_names.h"

namespace convlab {

/// The nodes and initializers of a file, while a graph is written to it. In the graph all values are float32; some ONNX
/// operators have other types. A value therefore has forms, one per type: the form that its node computes, and others
/// that a Cast adds at the first request. A constant is stored in each requested type.
class OnnxWriter {
 public:
  using Type = onnx::TensorProto::DataType;

  explicit OnnxWriter(const Graph& graph);

  /// Returns the file with all nodes that write_onnx() (ops/onnx_ops.h) has added, in order.
  onnx::GraphProto take();

  /// Returns the lowest opset that supports everything written so far, in the form in which it is written.
  int64_t opset() const { return opset_; }
  void need_opset(int64_t opset) { opset_ = std::max(opset_, opset); }

  const Graph& graph() const { return graph_; }
  /// Returns a value's shape, with -1 for sizes that depend on dynamic sizes of the inputs; nullopt if even the rank
  /// does.
  const std::optional<Shape>& shape(ValueId value) const { return shapes_[static_cast<size_t>(value)]; }
  const Tensor* constant(ValueId value) const;
  const std::string& name(ValueId value) const { return names_[value]; }

  /// Returns the name of a value in this type.
  std::string form(ValueId value, Type type);
  /// Declares that the next node computes the value in this type, and returns the name for that output.
  std::string give(ValueId value, Type type);

  /// Returns the integer type of a computed value, if known.
  std::optional<Type> whole_type(ValueId value) const;

  std::string fresh(const std::string& wanted) { return names_.fresh(wanted); }
  /// Adds a node under a unique name.
  void add(onnx::NodeProto node);
  /// Adds an initializer that is not a constant of the graph, with a unique name that begins with `name`. Returns that
  /// name.
  std::string add_constant(const std::string& name, Type type, const Tensor& tensor);

 private:
  std::string form_name(ValueId value, Type type);
  void write_outputs();

  const Graph& graph_;
  OnnxNames names_;
  UniqueNames node_names_;
  std::vector<std::optional<Shape>> shapes_;
  onnx::GraphProto nodes_;
  int64_t opset_;
  std::map<ValueId, onnx::TensorProto> reals_;  ///< the graph's constants that are requested as float32
  std::map<ValueId, std::vector<std::pair<Type, std::string>>> forms_;  ///< the others are computed from the first
  std::map<ValueId, Type> declared_;  ///< of inputs and outputs: the type of the form with the value's own name
};

/// Writes one node of the graph: operands and further inputs in their order, attributes, and done(). Operands and the
/// output are float32 unless requested otherwise.
class OnnxNodeWriter {
 public:
  using Type = OnnxWriter::Type;

  OnnxNodeWriter(OnnxWriter& writer, const Node& node);

  const Node& node() const { return node_; }
  OnnxWriter& file() { return writer_; }
  void need_opset(int64_t opset) { writer_.need_opset(opset); }
  void rename(const char* op_type) { proto_.set_op_type(op_type); }

  void integer(const char* name, int64_t value);
  void real(const char* name, float value);
  void text(const char* name, const std::string& value);
  void integers(const char* name, const std::vector<int64_t>& values);

  /// Adds the next operand, in this type.
  void operand(Type type = onnx::TensorProto::FLOAT);
  /// Adds all remaining operands.
  void operands(Type type = onnx::TensorProto::FLOAT);
  size_t operands_left() const { return node_.inputs.size() - next_; }

  // Further inputs, after all operands.
  void no_input();
  void integer_input(const char* what, const std::vector<int64_t>& values);
  void single_integer_input(const char* what, int64_t value);
  void real_input(const char* what, float value);
  void reals_input(const char* what, const std::vector<float>& values);
  void constant_input(const char* what, Type type, const Tensor& tensor);

  /// Adds an unused output before the node's own.
  void unread_output(const char* what);
  /// Adds an unused output after the node's own.
  void unread_last_output(const char* what) { last_output_ = what; }
  /// Sets the type of the output.
  void gives(Type type) { gives_ = type; }

  /// Adds the next operand under another name: an earlier node computes it from the operand.
  void operand_as(const std::string& name);
  /// Adds a node after this one that computes the output from this node's result, named `between`.
  onnx::NodeProto& then(const char* op_type, const std::string& between);

  /// Adds the node to the file.
  void done();
  /// Adds the node to the file, with this output name in place of the graph's.
  void done_as(const std::string& output);

  static onnx::AttributeProto& attribute(onnx::NodeProto& node, const char* name,
                                         onnx::AttributeProto::AttributeType type);

 private:
  onnx::AttributeProto& attribute(const char* name, onnx::AttributeProto::AttributeType type) {
    return attribute(proto_, name, type);
  }
  OnnxWriter& writer_;
  const Node& node_;
  onnx::NodeProto proto_;
  size_t next_ = 0;
  Type gives_ = onnx::TensorProto::FLOAT;
  const char* last_output_ = nullptr;
  std::optional<onnx::NodeProto> after_;
};

}  // namespace convlab
