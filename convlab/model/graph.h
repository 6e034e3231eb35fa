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
  std::string name;  ///< as in the file, for messages; made up where the file has none
  Op op;
  std::vector<ValueId> inputs;
  ValueId output = -1;
};

struct GraphInput {
  ValueId value = -1;
  Shape shape;                          ///< -1 for sizes that the file leaves open (the batch, usually)
  ElementType type = ElementType::f32;  ///< as the file has it
};

struct GraphOutput {
  ValueId value = -1;
  ElementType type = ElementType::f32;  ///< as the file has it
  std::string name = {};                ///< "": the value's
};

/// A constant that DequantizeLinear made: (whole - zeros) * scales, all of them or one for each place along an axis.
struct WholeConstant {
  Tensor whole;  ///< of any type of whole numbers
  std::vector<float> scales;
  std::vector<int64_t> zeros;  ///< as many
  int64_t axis = 0;            ///< not negative; of several scales
};

/// A feed-forward network, all values float32 (except what ScaleOp takes and gives): integers up to 2^24 are exact in
/// it, and a truth is 0 or 1. Nodes stand in an order in which they can run, and an output depends on each of them.
/// Identity, Dropout and Constant are gone; Casts are folded into constants, or are operators; rearrangements of
/// constants (Reshape, Transpose, Concat and their like) are done.
struct Graph {
  std::string name;
  std::vector<std::string> value_names;  ///< by ValueId
  std::map<ValueId, Tensor> constants;   ///< float32; int8: weights of a ByteConvOp
  std::vector<Node> nodes;
  std::vector<GraphInput> inputs{1};    ///< never empty
  std::vector<GraphOutput> outputs{1};  ///< never empty
  std::map<std::string, std::string> metadata;
  /// In which type the file has computed values that are whole numbers or truths there, where that is known: other
  /// operators than its own take nothing else.
  std::map<ValueId, ElementType> whole_types = {};
  /// What constants were made of that the file has as whole numbers.
  std::map<ValueId, std::shared_ptr<const WholeConstant>> whole_constants = {};

  const std::string& name_of(ValueId value) const { return value_names[static_cast<size_t>(value)]; }
  const std::string& name_of(const GraphInput& input) const { return name_of(input.value); }
  const std::string& name_of(const GraphOutput& output) const {
    return output.name.empty() ? name_of(output.value) : output.name;
  }

  /// A copy, with constants of its own, or such as share_elements() makes.
  Graph clone() const;

  /// From now on, clones share the constants' elements in memory until they are written.
  void share_elements();

  ValueId add_value(std::string value_name) {
    value_names.push_back(std::move(value_name));
    return static_cast<ValueId>(value_names.size()) - 1;
  }
};

/// The shapes of a graph's inputs, in their order: a view of a list, or of one.
class InputShapes : public std::span<const Shape> {
 public:
  InputShapes(const Shape& only) : std::span<const Shape>(&only, 1) {}         // NOLINT: what has one input is common
  InputShapes(const std::vector<Shape>& all) : std::span<const Shape>(all) {}  // NOLINT
  std::vector<Shape> copy() const { return {begin(), end()}; }
};

/// Drops the nodes that no output depends on, such as the rest of a training graph, and constants that no node uses.
/// Error(bad_input) where no output depends on any input.
void drop_unused(Graph& graph);

/// The shape of each value for these shapes of the inputs, by ValueId; {} for values that nothing uses. All sizes are
/// at least 1. Error(bad_input) that names node, operator and reason where shapes do not fit each other, where an
/// input's shape is not the graph's, or where the graph breaks a promise made above (an input that is not computed yet,
/// convolution weights that are no constant).
std::vector<Shape> infer_shapes(const Graph& graph, InputShapes inputs);

}  // namespace convlab
