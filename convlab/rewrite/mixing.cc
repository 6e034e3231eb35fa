// Decides whether operators mix the images of a batch.

#include "convlab/rewrite/mixing.h"

#include <algorithm>
#include <type_traits>

#include "convlab/model/einsum.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

using Operands = std::vector<SplitOperand>;

bool is_first(int64_t axis, const Shape& shape) { return normalized_axis(axis, std::ssize(shape)) == 0; }

bool all_hold_images(const Operands& inputs) {
  return std::ranges::all_of(inputs, [](const SplitOperand& input) { return input.images; });
}

template <class T, class... Ts>
constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);

/// Operators that shapes describe completely: elements stay in their images, or sizes show that they do not.
template <class T>
constexpr bool kShapesSuffice =
    is_one_of<T, ConvOp, ConvTransposeOp, PoolOp, LpPoolOp, GlobalAveragePoolOp, LrnOp, GridSampleOp, ActivationOp,
              UnaryOp, RoundOp, AddOp, MulOp, BinaryOp, WhereOp, BatchNormOp, GemmOp, MatMulOp, FlattenOp, ReshapeOp,
              SqueezeOp, UnsqueezeOp, TransposeOp, ExpandOp, DepthToSpaceOp, SpaceToDepthOp, QLinearConvOp,
              ConvIntegerOp, QLinearMatMulOp, MatMulIntegerOp, ByteAddOp, ByteConvOp, ByteMeanOp, ByteConcatOp, ScaleOp,
              SqueezeExciteOp, ArgMaxOp>;

/// The default, which also applies to new operators. MaxPool's indices, MaxUnpool and ScatterND use indices into all
/// images.
template <class T>
bool mixes(const T&, const Operands&) {
  return !kShapesSuffice<T>;
}

template <class T>
requires is_one_of<T, ConcatOp, SoftmaxOp, LpNormalizeOp, ArgReduceOp, TopKOp, CumSumOp>
bool mixes(const T& op, const Operands& inputs) { return is_first(op.axis, inputs[0].shape); }

bool mixes(const NormalizeOp& op, const Operands& inputs) {
  return op.groups == 0 && is_first(op.axis, inputs[0].shape);
}

bool mixes(const ReduceOp& op, const Operands& inputs) {
  return inputs[0].shape.empty() || reduced_axes(op, inputs[0].shape.size())[0];
}

bool mixes(const PadOp& op, const Operands& inputs) { return op.pads[0] != 0 || op.pads[inputs[0].shape.size()] != 0; }

bool mixes(const ResizeOp& op, const Operands& inputs) { return resized_axes(op, inputs[0].shape)[0].changes; }

/// The slice must keep all images, however many, in order.
bool mixes(const SliceOp& op, const Operands& inputs) {
  constexpr int64_t kBeyond = INT32_MAX;
  for (size_t i = 0; i < op.starts.size(); ++i) {
    const bool first = op.axes.empty() ? i == 0 : is_first(op.axes[i], inputs[0].shape);
    const bool all = op.starts[i] == 0 && op.ends[i] >= kBeyond && (op.steps.empty() || op.steps[i] == 1);
    if (first && !all) return true;
  }
  return false;
}

bool mixes(const TileOp& op, const Operands&) { return op.repeats[0] != 1; }
bool mixes(const TriluOp&, const Operands& inputs) { return inputs[0].shape.size() < 3; }

bool mixes(const GatherOp& op, const Operands& inputs) {
  return inputs[0].images && is_first(op.axis, inputs[0].shape);
}

template <class T>
requires is_one_of<T, GatherElementsOp, ScatterElementsOp>
bool mixes(const T& op, const Operands& inputs) {
  return !all_hold_images(inputs) || is_first(op.axis, inputs[0].shape);
}

bool mixes(const GatherNdOp& op, const Operands& inputs) { return inputs[0].images && op.batch_dims == 0; }

/// Images must have an index of their own: the first of the output and of all operands that hold images.
bool mixes(const EinsumOp& op, const Operands& inputs) {
  std::vector<Shape> shapes;
  for (const SplitOperand& input : inputs) shapes.push_back(input.shape);
  const Einsum einsum = einsum_of(op.equation, shapes);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<size_t>& own = einsum.inputs[i];
    const auto count = std::ranges::count(own, einsum.output[0]);
    const bool leads = !own.empty() && own[0] == einsum.output[0] && count == 1;
    if (inputs[i].images ? !leads : count != 0) return true;
  }
  return false;
}

template <class T>
requires is_one_of<T, QuantizeOp, DequantizeOp>
bool mixes(const T& op, const Operands& inputs) {
  const bool one_step = std::ranges::all_of(inputs.begin() + 1, inputs.end(),
                                            [](const SplitOperand& input) { return element_count(input.shape) == 1; });
  return !(one_step && op.block_size == 0) && is_first(op.axis, inputs[0].shape);
}

}  // namespace

bool mixes_images(const Op& op, const std::vector<SplitOperand>& inputs) {
  return std::visit([&](const auto& one) { return mixes(one, inputs); }, op);
}

}  // namespace convlab
