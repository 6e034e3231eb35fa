#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "convlab/conv/epilogue.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// How an operator's padding is given: as numbers, or computed so that the output has ceil(input / stride) elements, an
/// odd one going after (same_upper) or before (same_lower), or none (valid). Only explicit_pads uses the pads given as
/// numbers; shapes.h resolves the others for an input's shape.
enum class AutoPad { explicit_pads, same_upper, same_lower, valid };

// One struct per operator, with ONNX's meaning; inputs in ONNX's order. Axes may be negative, counting from the end.
// Optional inputs are last: an absent one is simply not in Node::inputs.

struct ConvOp {  ///< inputs: x (N C H W), w (K C/groups R S), optional bias (K); w and bias are constants
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int64_t groups = 1;
  AutoPad auto_pad = AutoPad::explicit_pads;
};
struct PoolOp {
  Pool pool;
  AutoPad auto_pad = AutoPad::explicit_pads;
};
struct GlobalAveragePoolOp {};
struct ActivationOp {
  Activation activation;
};
struct BatchNormOp {  ///< inputs: x (N C ...), scale, shift, mean, variance, each a constant of C elements
  float epsilon = 1e-5f;
};
struct GemmOp {  ///< alpha * A' * B' + beta * C; inputs: A, B, optional C
  float alpha = 1, beta = 1;
  bool transpose_a = false, transpose_b = false;
};
struct MatMulOp {};  ///< as numpy.matmul: 1-D operands and broadcast leading dimensions, too
struct AddOp {};     ///< broadcasts as numpy does
struct MulOp {};
struct ConcatOp {
  int64_t axis = 0;
};
struct FlattenOp {
  int64_t axis = 1;
};
struct ReshapeOp {  ///< 0 keeps a size, one -1 takes the rest
  Shape shape;
};
struct SqueezeOp {  ///< no axes: all of size 1
  std::vector<int64_t> axes;
};
struct UnsqueezeOp {
  std::vector<int64_t> axes;
};
struct TransposeOp {  ///< empty: reversed
  std::vector<int64_t> permutation;
};
struct SoftmaxOp {
  int64_t axis = -1;
  bool log = false;
  bool flattened = false;  ///< opset < 13: over all dimensions from axis on together, not over axis alone
};
enum class PadMode { constant, reflect, edge };
/// pads: before in every dimension, then after in every dimension. A negative one crops, and does so before any
/// padding: reflect and edge see what is left.
struct PadOp {
  PadMode mode = PadMode::constant;
  std::vector<int64_t> pads;
  float value = 0;
};
struct RoundOp {};  ///< a Cast to float16 in mid-graph: values rounded to binary16, kept as float32

// Steps of the engine's own, before and after a network on its device. No model has them.

/// Maps of pixels (uint8, N C H W) scaled to N C side side, which are pixels, too: see resized().
struct ScaleOp {
  int64_t side = 0;
};
/// N ... gives N: the place of the largest of each image's numbers, as float32; the first of equals, NaN where one of
/// the numbers is NaN.
struct ArgMaxOp {
  bool finite = false;  ///< NaN also where the largest is infinite: a softmax would make NaN of all
};

using Op = std::variant<ConvOp, PoolOp, GlobalAveragePoolOp, ActivationOp, BatchNormOp, GemmOp, MatMulOp, AddOp, MulOp,
                        ConcatOp, FlattenOp, ReshapeOp, SqueezeOp, UnsqueezeOp, TransposeOp, SoftmaxOp, PadOp, RoundOp,
                        ScaleOp, ArgMaxOp>;

/// ONNX's name of the operator ("Conv", "MaxPool", ...), for messages and tables.
std::string name_of(const Op& op);

using ValueId = int;

struct Node {
  std::string name;  ///< as in the file, for messages; made up where the file has none
  Op op;
  std::vector<ValueId> inputs;
  ValueId output = -1;
};

/// A feed-forward network with one input and one output, all values float32 (except what ScaleOp takes and gives).
/// Nodes stand in an order in which they can run, and the output depends on each of them. Identity, Dropout and
/// Constant are gone; Casts are folded into constants, or are RoundOp; rearrangements of constants (Reshape, Transpose,
/// Concat and their like) are done.
struct Graph {
  std::string name;
  std::vector<std::string> value_names;  ///< by ValueId
  std::map<ValueId, Tensor> constants;   ///< float32
  std::vector<Node> nodes;
  ValueId input = -1, output = -1;
  Shape input_shape;  ///< -1 for sizes that the file leaves open (the batch, usually)
  std::map<std::string, std::string> metadata;

  /// A copy, with constants of its own.
  Graph clone() const;

  ValueId add_value(std::string value_name) {
    value_names.push_back(std::move(value_name));
    return static_cast<ValueId>(value_names.size()) - 1;
  }
};

/// Drops the nodes that the output does not depend on, such as the rest of a training graph, and constants that no node
/// uses. Error(bad_input) where the output does not depend on the input.
void drop_unused(Graph& graph);

/// The shape of each value for this input shape, by ValueId; {} for values that nothing uses. All sizes are at least 1.
/// Error(bad_input) that names node, operator and reason where shapes do not fit each other, where the input's shape is
/// not the graph's, or where the graph breaks a promise made above (an input that is not computed yet, convolution
/// weights that are no constant).
std::vector<Shape> infer_shapes(const Graph& graph, const Shape& input_shape);

}  // namespace convlab
