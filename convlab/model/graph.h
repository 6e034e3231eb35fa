#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convlab/model/op.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

using ValueId = int;

struct Node {
  std::string name;  ///< as in the file, for messages; generated if the file has none
  Op op;
  std::vector<ValueId> inputs;
  ValueId output = -1;
};

struct GraphInput {
  ValueId value = -1;
  Shape shape;                          ///< -1 for dynamic sizes (usually the batch size)
  ElementType type = ElementType::f32;  ///< as in the file
  /// The file's names for dynamic sizes, by axis: "N"; "" for a size without a name. {}: none has a name.
  std::vector<std::string> size_names = {};
};

/// Returns an input's shape for messages: "N x 3 x height x width", or "?x3x?x?" if no dynamic size has a name.
std::string to_text(const GraphInput& input);

struct GraphOutput {
  ValueId value = -1;
  ElementType type = ElementType::f32;  ///< as in the file
  std::string name = {};                ///< "": the name of the value
};

/// A constant computed by DequantizeLinear: (whole - zeros) * scales, with one scale, or one for each index along an
/// axis.
struct WholeConstant {
  Tensor whole;  ///< of any integer type
  std::vector<float> scales;
  std::vector<int64_t> zeros;  ///< one for each scale
  int64_t axis = 0;            ///< not negative; only used with several scales
};

/// A feed-forward network. All values are float32 (except the input and output of ScaleOp): integers up to 2^24 are
/// exact, and booleans are 0 or 1. Nodes are in topological order, and an output depends on each of them. Identity,
/// Dropout and Constant are removed; Casts are folded into constants, or are operators; rearrangements of constants
/// (Reshape, Transpose, Concat and the like) are evaluated.
struct Graph {
  std::string name;
  std::vector<std::string> value_names;  ///< by ValueId
  std::map<ValueId, Tensor> constants;   ///< float32; weights of a ByteConvOp are int8
  std::vector<Node> nodes;
  std::vector<GraphInput> inputs{1};    ///< never empty
  std::vector<GraphOutput> outputs{1};  ///< never empty
  std::map<std::string, std::string> metadata;
  /// The types that computed integers and booleans have in the file, if known. ONNX's operators, unlike those of this
  /// graph, accept no other type.
  std::map<ValueId, ElementType> whole_types = {};
  /// For constants that the file stores as integers: what they were computed from.
  std::map<ValueId, std::shared_ptr<const WholeConstant>> whole_constants = {};

  const std::string& name_of(ValueId value) const { return value_names[static_cast<size_t>(value)]; }
  const std::string& name_of(const GraphInput& input) const { return name_of(input.value); }
  const std::string& name_of(const GraphOutput& output) const {
    return output.name.empty() ? name_of(output.value) : output.name;
  }

  /// Returns a copy with its own constants; after share_elements(), they are copied on write.
  Graph clone() const;

  /// Makes later clones share the constants' elements in memory until they are written.
  void share_elements();

  ValueId add_value(std::string value_name) {
    value_names.push_back(std::move(value_name));
    return static_cast<ValueId>(value_names.size()) - 1;
  }
};

/// The shapes of a graph's inputs, in order: a view of a list, or of a single shape.
class InputShapes : public std::span<const Shape> {
 public:
  InputShapes(const Shape& only) : std::span<const Shape>(&only, 1) {}         // NOLINT: what has one input is common
  InputShapes(const std::vector<Shape>& all) : std::span<const Shape>(all) {}  // NOLINT
  std::vector<Shape> copy() const { return {begin(), end()}; }
};

/// Drops the nodes that no output depends on, such as the remainder of a training graph, and constants that no node
/// uses. Throws Error(bad_input) if no output depends on any input.
void drop_unused(Graph& graph);

/// Returns the shape of each value for these input shapes, by ValueId; {} for values that nothing uses. All sizes are
/// at least 1. Throws Error(bad_input) that names node, operator and reason if shapes do not fit each other, if an
/// input's shape does not match the graph, or if the graph violates an invariant (an input that is not computed yet,
/// convolution weights that are not constant).
std::vector<Shape> infer_shapes(const Graph& graph, InputShapes inputs);

}  // namespace convlab
