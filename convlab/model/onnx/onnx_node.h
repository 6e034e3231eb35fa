#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/model/graph_limits.h"
#include "convlab/model/onnx/onnx_external.h"
#include "convlab/model/onnx/onnx_value.h"
#include "convlab/tensor/tensor.h"

namespace onnx {
class AttributeProto;
class NodeProto;
}  // namespace onnx

namespace convlab {

/// The longest list that a node accepts, except for Split: pads are two numbers per dimension, and each node stores its
/// own list.
inline constexpr int64_t kMostNumbers = 2 * kMostRank;

/// One node of an ONNX model: its attributes and inputs, typed and with defaults. Errors contain only the reason.
class OnnxNode {
 public:
  OnnxNode(const onnx::NodeProto& proto, int64_t opset, std::vector<const OnnxValue*> inputs, ExternalFiles& files);

  int64_t opset() const { return opset_; }

  // Attributes. Return the default if the node does not have the attribute; throw if it has another type.
  bool has(std::string_view name) const { return find(name) != nullptr; }
  int64_t integer(std::string_view name, int64_t otherwise) const;
  int64_t integer(std::string_view name) const;  ///< throws if it is missing
  bool flag(std::string_view name, bool otherwise) const;
  float real(std::string_view name, float otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::vector<int64_t> integers(std::string_view name) const;  ///< {} if it is missing
  std::vector<float> reals(std::string_view name) const;
  Tensor tensor(std::string_view name) const;
  void ignore(std::string_view name) const { find(name); }

  /// Throws unless every attribute was read or ignored: an attribute that is never read would silently have no effect.
  void check_all_read() const;

  // Inputs. An input that is missing or has an empty name is absent.

  /// Throws unless there are `least` to `most` inputs and the first `least` are present.
  void check_inputs(size_t least, size_t most) const;
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  const OnnxValue& input(size_t i) const;  ///< throws if it is absent
  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const;
  bool has_output(size_t i) const;  ///< whether it has a name

  /// Returns the rank of input i; throws OpenSize if it is unknown.
  int64_t rank(size_t i) const;

  /// Return the shapes of input i, by trial, and its size along an axis. Throw OpenSize if they are unknown.
  const ByTrial<Shape>& shapes(size_t i) const;
  OnnxSize size_along(size_t i, int64_t axis) const;

  /// Returns the constant that input i is. Throws if the model computes it; the message says that `what` must be
  /// constant.
  const Tensor& constant(size_t i, std::string_view what) const;

  /// Returns input i as a list of integers; {} if it is absent.
  std::vector<int64_t> constant_integers(size_t i, std::string_view what, int64_t most = kMostNumbers) const;

  /// Returns input i as a list of sizes that may depend on the batch size.
  std::vector<OnnxSize> sizes(size_t i, std::string_view what) const;

  /// Returns input i as a number; `otherwise` if it is absent.
  float constant_real(size_t i, std::string_view what, float otherwise) const;

 private:
  const onnx::AttributeProto* find(std::string_view name) const;
  const onnx::AttributeProto* find(std::string_view name, int type, std::string_view type_name) const;

  const onnx::NodeProto& proto_;
  int64_t opset_;
  std::vector<const OnnxValue*> inputs_;
  ExternalFiles& files_;
  mutable std::set<std::string, std::less<>> read_;
};

}  // namespace convlab
