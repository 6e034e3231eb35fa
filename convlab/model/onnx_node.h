#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "convlab/model/graph.h"

namespace onnx {
class NodeProto;
class AttributeProto;
}  // namespace onnx

namespace convlab {

/// What has been read of a model so far.
struct OnnxState {
  Graph graph;
  int64_t opset = 0;
  std::map<std::string, ValueId> values;    ///< by name in the file
  std::map<std::string, Tensor> constants;  ///< in their own types: weights, shapes, axes, limits

  /// The value of this name; a constant becomes a float32 constant of the graph. Error(bad_input) with the reason
  /// alone.
  ValueId value(const std::string& name);

  bool defined(const std::string& name) const { return values.contains(name) || constants.contains(name); }
};

/// One node while it is being read: typed access to attributes and inputs. Errors are Error(bad_input) with the reason
/// alone; the caller puts file, node, operator and opset before it.
class OnnxNode {
 public:
  OnnxNode(const onnx::NodeProto& proto, OnnxState& state);

  int64_t opset() const { return state_.opset; }
  OnnxState& state() { return state_; }

  int64_t integer(const std::string& attribute, int64_t otherwise);
  float real(const std::string& attribute, float otherwise);
  std::string text(const std::string& attribute, const std::string& otherwise);
  std::vector<int64_t> integers(const std::string& attribute, std::vector<int64_t> otherwise);
  const onnx::AttributeProto* attribute(const std::string& attribute);

  size_t input_count() const;
  bool has_input(size_t i) const;
  const std::string& input_name(size_t i) const;
  void require_inputs(size_t least, size_t most) const;

  /// Inputs from `first` to before `end` that are there, as values.
  std::vector<ValueId> inputs(size_t first, size_t end);

  /// Input i if it is a constant, in its own type; otherwise nullptr.
  const Tensor* constant(size_t i) const;

  /// Input i, which must be a constant of integers.
  std::vector<int64_t> constant_integers(size_t i, const char* what) const;

  /// Input i, which must be a constant of one float.
  float constant_real(size_t i, const char* what) const;

  void define(Op op, std::vector<ValueId> inputs);  ///< the first output, computed by a node of the graph
  void define_constant(Tensor tensor);              ///< the first output is this
  void define_alias(size_t input);                  ///< the first output is that input

  /// Attributes that nobody has asked for: they would be ignored silently.
  std::vector<std::string> unread() const;

 private:
  const std::string& output_name() const;

  const onnx::NodeProto& proto_;
  OnnxState& state_;
  std::set<std::string> read_;
};

/// Reads one node into the state. Error(bad_input) with the reason alone, also for an operator that is not supported.
void import_onnx_node(OnnxNode& node, const std::string& op_type);

}  // namespace convlab
