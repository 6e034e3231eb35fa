#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/model/limits.h"
#include "convlab/model/onnx/onnx_external.h"
#include "convlab/model/onnx/reading/onnx_value.h"
#include "convlab/tensor/tensor.h"

namespace onnx {
class AttributeProto;
class NodeProto;
}  // namespace onnx

namespace convlab {

/// The longest list that a node takes, save for a Split's: pads take two numbers a dimension; each node keeps its own.
inline constexpr int64_t kMostNumbers = 2 * kMostRank;

/// One node of an ONNX model: its attributes and inputs, typed and with defaults. Errors give the reason alone.
class OnnxNode {
 public:
  OnnxNode(const onnx::NodeProto& proto, int64_t opset, std::vector<const OnnxValue*> inputs, ExternalFiles& files);

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
  const OnnxValue& input(size_t i) const;  ///< Error where it is absent
  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const;
  bool has_output(size_t i) const;  ///< it has a name

  /// Dimensions of input i; an error where they are not known.
  int64_t rank(size_t i) const;

  /// The shapes of input i, at trials, and its size along an axis. OpenSize where they are not known.
  const ByTrial<Shape>& shapes(size_t i) const;
  OnnxSize size_along(size_t i, int64_t axis) const;

  /// The constant that input i is; if it is computed, an error with the reason that `what` must be known.
  const Tensor& constant(size_t i, std::string_view what) const;

  /// The list of whole numbers that input i is; {} where the input is absent.
  std::vector<int64_t> constant_integers(size_t i, std::string_view what, int64_t most = kMostNumbers) const;

  /// The same, of sizes that may depend on the number of images.
  std::vector<OnnxSize> sizes(size_t i, std::string_view what) const;

  /// The number that input i is, `otherwise` where it is absent.
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
