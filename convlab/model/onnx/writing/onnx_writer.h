#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/writing/onnx_names.h"

namespace convlab {

/// The nodes and constants of a file, while a graph is written into them. In the graph all values are float32; ONNX has
/// operators that give or take other types. So a value has forms, one for each type: the one in which its node gives
/// it, and others that a Cast makes when somebody first asks for them. A constant is stored in each type asked for.
class OnnxWriter {
 public:
  using Type = onnx::TensorProto::DataType;

  explicit OnnxWriter(const Graph& graph);

  /// All of the graph.
  onnx::GraphProto take();

  /// The least opset that has all that has been written, in the form in which it is written.
  int64_t opset() const { return opset_; }
  void need_opset(int64_t opset) { opset_ = std::max(opset_, opset); }

  const Graph& graph() const { return graph_; }
  /// A value's shape, -1 for sizes that change with those that the inputs leave open; nullopt if even the rank does.
  const std::optional<Shape>& shape(ValueId value) const { return shapes_[static_cast<size_t>(value)]; }
  const Tensor* constant(ValueId value) const;
  const std::string& name(ValueId value) const { return names_[value]; }

  /// The name of a value in a type.
  std::string form(ValueId value, Type type);
  /// Says that the next node gives the value in this type; the name that it must give it.
  std::string give(ValueId value, Type type);

  /// The type of a computed value's whole numbers, where it is known.
  std::optional<Type> whole_type(ValueId value) const;

  std::string fresh(const std::string& wanted) { return names_.fresh(wanted); }
  /// Adds a node, under a name that no other has.
  void add(onnx::NodeProto node);
  /// A constant of the file's own, whose name begins as this; the name.
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
  std::map<ValueId, onnx::TensorProto> reals_;  ///< the graph's constants that are asked for as float32
  std::map<ValueId, std::vector<std::pair<Type, std::string>>>
      forms_;                         ///< the first is the one that others are made of
  std::map<ValueId, Type> declared_;  ///< of inputs and outputs: the type that has the name
};

/// Writes one node of the graph: operands and further inputs in their order, attributes, and done(). Operands are
/// float32, and so is the output, unless asked for otherwise.
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

  /// The next operand, in this type.
  void operand(Type type = onnx::TensorProto::FLOAT);
  /// All that are left.
  void operands(Type type = onnx::TensorProto::FLOAT);
  size_t operands_left() const { return node_.inputs.size() - next_; }

  // Further inputs, after all operands.
  void no_input();
  void integer_input(const char* what, const std::vector<int64_t>& values);
  void single_integer_input(const char* what, int64_t value);
  void real_input(const char* what, float value);
  void reals_input(const char* what, const std::vector<float>& values);
  void constant_input(const char* what, Type type, const Tensor& tensor);

  /// An output before the node's own, which nobody reads.
  void unread_output(const char* what);
  /// One after it.
  void unread_last_output(const char* what) { last_output_ = what; }
  /// The type of the output.
  void gives(Type type) { gives_ = type; }

  /// The next operand under another name: a node before this one makes it of the operand.
  void operand_as(const std::string& name);
  /// A node after this one, which makes the output of what this one gives: `between` is the name of that.
  onnx::NodeProto& then(const char* op_type, const std::string& between);

  /// Adds the node to the file.
  void done();
  /// The same, under a name of the file's own in place of the output's.
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
