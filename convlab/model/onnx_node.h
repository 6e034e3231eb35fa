#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace onnx {
class AttributeProto;
class NodeProto;
}  // namespace onnx

namespace convlab {

/// What the importer knows about a value while it reads a model.
struct OnnxValue {
  std::string name;
  ElementType type = ElementType::f32;
  std::optional<int64_t> rank;     ///< unknown after a Squeeze that does not say what it squeezes
  std::optional<Tensor> constant;  ///< of a constant, in its own type
  ValueId id = -1;                 ///< in the graph; -1 for a constant that none of its nodes has used
};

/// One node of an ONNX model: its attributes and inputs, typed and with defaults. Errors give the reason alone.
class OnnxNode {
 public:
  OnnxNode(const onnx::NodeProto& proto, int64_t opset, std::vector<const OnnxValue*> inputs);

  int64_t opset() const { return opset_; }

  // Attributes. The default where the node has none of this name; an error where its type is another.
  bool has(std::string_view name) const { return find(name) != nullptr; }
  int64_t integer(std::string_view name, int64_t otherwise) const;
  int64_t integer(std::string_view name) const;  ///< an error where it is missing
  bool flag(std::string_view name, bool otherwise) const;
  float real(std::string_view name, float otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::vector<int64_t> integers(std::string_view name) const;  ///< {} where it is missing
  std::vector<float> reals(std::string_view name) const;
  Tensor tensor(std::string_view name) const;
  void ignore(std::string_view name) const { find(name); }

  /// Error unless every attribute has been read or ignored: one that nobody reads would silently have no effect.
  void check_all_read() const;

  // Inputs. One that is not there, or has no name, is absent.

  /// Error unless there are `least` to `most` inputs and the first `least` are present.
  void check_inputs(size_t least, size_t most) const;
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  const OnnxValue& input(size_t i) const { return *inputs_[i]; }
  size_t input_count() const { return inputs_.size(); }

  /// The constant that input i is; if it is computed, an error with the reason that `what` must be known.
  const Tensor& constant(size_t i, std::string_view what) const;

  /// The int64 list that input i is; {} where the input is absent.
  std::vector<int64_t> constant_integers(size_t i, std::string_view what) const;

  /// The float32 or float16 number that input i is, `otherwise` where it is absent.
  float constant_real(size_t i, std::string_view what, float otherwise) const;

 private:
  const onnx::AttributeProto* find(std::string_view name) const;
  const onnx::AttributeProto* find(std::string_view name, int type, std::string_view type_name) const;

  const onnx::NodeProto& proto_;
  int64_t opset_;
  std::vector<const OnnxValue*> inputs_;
  mutable std::set<std::string, std::less<>> read_;
};

}  // namespace convlab
