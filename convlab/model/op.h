#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "convlab/conv/epilogue.h"
#include "convlab/model/elementwise.h"
#include "convlab/tensor/shape.h"

namespace convlab {

// One struct per operator, with ONNX's meaning; inputs in ONNX's order. Axes may be negative, counting from the end.
// Optional inputs are last: an absent one is simply not in Node::inputs. All values are float32: truth is 1 or 0, and
// integers are whole numbers, exact up to 2^24.

// Windows over images.

/// How an operator's padding is given: as numbers, or computed so that the output has ceil(input / stride) elements, an
/// odd one going after (same_upper) or before (same_lower), or none (valid). Only explicit_pads uses the pads given as
/// numbers; shapes.h resolves the others for an input's shape.
enum class AutoPad { explicit_pads, same_upper, same_lower, valid };

struct ConvOp {  ///< inputs: x (N C H W), w (K C/groups R S), optional bias (K); w and bias are constants
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int64_t groups = 1;
  AutoPad auto_pad = AutoPad::explicit_pads;
};
/// inputs: x (N C H W), w (C K/groups R S), optional bias (K). An output_h and output_w that are not 0 decide the pads,
/// an odd one going before unless auto_pad is same_upper; otherwise same_* gives an output of input * stride.
struct ConvTransposeOp {
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int64_t output_pad_h = 0, output_pad_w = 0;
  int64_t output_h = 0, output_w = 0;
  int64_t groups = 1;
  AutoPad auto_pad = AutoPad::explicit_pads;
};
struct PoolOp {
  Pool pool;
  AutoPad auto_pad = AutoPad::explicit_pads;
};
/// Where in x the maxima of a PoolOp lie: MaxPool's second output, places in all of x, counted row by row of each map
/// or column by column. The first of equals; NaN is the largest.
struct MaxPoolIndicesOp {
  Pool pool;
  AutoPad auto_pad = AutoPad::explicit_pads;
  bool columns_first = false;
};
/// inputs: x and indices as MaxPool gives them, in an array that the window, undone, would have. All else is 0. The
/// result stands in the upper left corner of a larger output where one is asked for.
struct MaxUnpoolOp {
  Pool pool;           ///< kernel, strides and pads
  Shape output_shape;  ///< of four sizes; empty: as the window gives it
};
struct LpPoolOp {  ///< (the sum of |x|^p)^(1/p); padding counts as 0
  Pool pool;       ///< its kind is not used
  int64_t p = 2;
  AutoPad auto_pad = AutoPad::explicit_pads;
};
struct GlobalAveragePoolOp {};
struct LrnOp {  ///< x / (bias + alpha / size * the sum of squares of `size` neighbouring channels)^beta
  float alpha = 1e-4f, beta = 0.75f, bias = 1;
  int64_t size = 1;
};

// Sampling.

enum class SampleMode { nearest, linear, cubic };
enum class ResizeCoordinates {
  half_pixel,
  half_pixel_symmetric,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  tf_half_pixel_for_nn,
  tf_crop_and_resize
};
/// simple, opset 10's: ceil along axes that shrink, floor along others.
enum class NearestRule { round_prefer_floor, round_prefer_ceil, floor, ceil, simple };
enum class AspectRatio { stretch, not_larger, not_smaller };

/// Resize and Upsample. `axes` (empty: all) are those that scales or sizes, whichever is not empty, and roi speak of;
/// roi, for tf_crop_and_resize alone, has all starts, then all ends.
struct ResizeOp {
  SampleMode mode = SampleMode::nearest;
  ResizeCoordinates coordinates = ResizeCoordinates::half_pixel;
  NearestRule nearest = NearestRule::round_prefer_floor;
  AspectRatio aspect_ratio = AspectRatio::stretch;  ///< with sizes only
  float cubic_coeff_a = -0.75f;
  bool exclude_outside = false;
  bool antialias = false;
  float extrapolation_value = 0;
  std::vector<float> scales;
  std::vector<int64_t> sizes, axes;
  std::vector<float> roi;
};
enum class SamplePadding { zeros, border, reflection };
struct GridSampleOp {  ///< inputs: x (N C H W), grid (N P Q 2) of places (along W, along H) from -1 to 1
  SampleMode mode = SampleMode::linear;
  SamplePadding padding = SamplePadding::zeros;
  bool align_corners = false;
};

// Element by element.

struct ActivationOp {
  Activation activation;
};
struct UnaryOp {
  UnaryKind kind = UnaryKind::abs;
  float alpha = 0, beta = 0;
};
/// A Cast to float16 in mid-graph, or to bfloat16: values are rounded, and kept as float32.
struct RoundOp {
  bool brain = false;
};
struct AddOp {};  ///< broadcasts as numpy does
struct MulOp {};
struct BinaryOp {  ///< broadcasts as numpy does
  BinaryKind kind = BinaryKind::subtract;
};
struct WhereOp {};  ///< inputs: condition, a where it is not 0, b where it is; all three broadcast

// Normalization. BatchNormOp's inputs but the first are constants.

struct BatchNormOp {  ///< inputs: x (N C ...), scale, shift, mean, variance, each of C elements
  float epsilon = 1e-5f;
};
enum class NormalizePart { result, mean, inverse_deviation };
/// (x - mean) / sqrt(variance + epsilon) * scale + bias; without `center` x / sqrt(mean of x^2 + epsilon) * scale +
/// bias. Inputs: x, optional scale, optional bias. groups == 0: over all dimensions from `axis` on; scale and bias
/// broadcast to x. Otherwise x is N C ..., each of that many groups of channels is normalized with all dimensions after
/// them, and scale and bias have C elements: instance normalization has C groups.
struct NormalizeOp {
  int64_t axis = -1;
  int64_t groups = 0;
  float epsilon = 1e-5f;
  bool center = true;
  NormalizePart part = NormalizePart::result;  ///< the others are LayerNormalization's: 1 for each size from axis on
};
struct LpNormalizeOp {  ///< x / (the sum of |x|^p along the axis)^(1/p)
  int64_t axis = -1, p = 2;
};
struct SoftmaxOp {
  int64_t axis = -1;
  bool log = false;
  bool flattened = false;  ///< opset < 13: over all dimensions from axis on together, not over axis alone
};

// Along axes.

enum class ReduceKind { sum, mean, max, min, prod, l1, l2, log_sum, log_sum_exp, sum_square };
struct ReduceOp {
  ReduceKind kind = ReduceKind::sum;
  std::vector<int64_t> axes;  ///< empty: all
  bool keep_dims = true;
};
/// ArgMax and ArgMin: the first of equals, or the last; NaN comes before all numbers.
struct ArgReduceOp {
  int64_t axis = 0;
  bool keep_dims = true, largest = true, last = false;
};
/// The k largest or smallest, in order, of equals those that come first; or their indices. NaN is above all numbers.
struct TopKOp {
  int64_t axis = -1, k = 1;
  bool largest = true, sorted = true, indices = false;
};
struct CumSumOp {
  int64_t axis = 0;
  bool exclusive = false, reverse = false;
};

// Matrix products.

struct GemmOp {  ///< alpha * A' * B' + beta * C; inputs: A, B, optional C
  float alpha = 1, beta = 1;
  bool transpose_a = false, transpose_b = false;
};
struct MatMulOp {};  ///< as numpy.matmul: 1-D operands and broadcast leading dimensions, too
struct EinsumOp {    ///< as numpy.einsum, "..." included
  std::string equation;
};

// Rearrangements.

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
enum class PadMode { constant, reflect, edge, wrap };
/// pads: before in every dimension, then after in every dimension. A negative one crops, and does so before any
/// padding: reflect, edge and wrap see what is left.
struct PadOp {
  PadMode mode = PadMode::constant;
  std::vector<int64_t> pads;
  float value = 0;
};
/// One start and end an axis; axes empty: the first ones; steps empty: 1. Ends beyond the array are clamped.
struct SliceOp {
  std::vector<int64_t> starts, ends, axes, steps;
};
/// Broadcast with this shape, in which -1 is the input's size, as 1 is. kImages is `per_image` times the first size of
/// a second input, which is there for this alone: a value that holds the images.
struct ExpandOp {
  static constexpr int64_t kImages = -2;
  Shape shape;
  int64_t per_image = 1;
};
struct TileOp {  ///< one for each dimension
  std::vector<int64_t> repeats;
};
struct DepthToSpaceOp {
  int64_t block = 1;
  bool columns_rows_depth = false;  ///< CRD: a channel's block lies in neighbouring channels; else DCR
};
struct SpaceToDepthOp {
  int64_t block = 1;
};
struct TriluOp {
  bool upper = true;
  int64_t k = 0;
};

// Picking and placing by indices, which may be negative, counting from the end.

struct GatherOp {  ///< inputs: x, indices
  int64_t axis = 0;
};
struct GatherElementsOp {  ///< inputs: x, indices
  int64_t axis = 0;
};
struct GatherNdOp {  ///< inputs: x, indices
  int64_t batch_dims = 0;
};
enum class ScatterReduction { none, add, mul, max, min };
struct ScatterElementsOp {  ///< inputs: x, indices, updates
  int64_t axis = 0;
  ScatterReduction reduction = ScatterReduction::none;
};
struct ScatterNdOp {  ///< inputs: x, indices, updates
  ScatterReduction reduction = ScatterReduction::none;
};

// Quantized: whole numbers, 8 bits wide in products, whose sums are exact. Scales and zero points are of one element,
// or of one for each place along an axis.

/// round(x / scale) + zero, saturated to low .. high; inputs: x, scale, optional zero. With a block_size, scale and
/// zero have one element for each `block_size` elements of the axis.
struct QuantizeOp {
  int64_t axis = 1, block_size = 0;
  int low = 0, high = 255;
};
struct DequantizeOp {  ///< (x - zero) * scale; inputs: x, scale, optional zero
  int64_t axis = 1, block_size = 0;
};
/// inputs: x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, optional bias; those of w may have K elements
struct QLinearConvOp {
  ConvOp conv;
  int low = 0, high = 255;
};
struct ConvIntegerOp {  ///< inputs: x, w, optional x_zero, optional w_zero, which may have K elements
  ConvOp conv;
};
/// inputs: a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero; those of a for all or each row, of b for all or
/// each column
struct QLinearMatMulOp {
  int low = 0, high = 255;
};
struct MatMulIntegerOp {};  ///< inputs: a, b, optional a_zero (for all, or each row), optional b_zero (each column)

// The same as rewrite/quantized.h makes them, with all that is constant worked out; no model has them. Levels are 0 to
// 255, and so are zero points. What is `low` to `high` is rounded, half to even, then moved by `zero`, then saturated:
// an activation is a narrower range.

struct ByteAddOp {  ///< inputs: a, b; round((a - a_zero) * a_factor + (b - b_zero) * b_factor) + zero
  float a_factor = 1, b_factor = 1;
  int a_zero = 0, b_zero = 0, zero = 0, low = 0, high = 255;
};
/// y = round(sum * factor) + zero, of each map; inputs: x, w (int8), factors (K), bias (K, whole numbers), and, if
/// it `adds`, what is added to that as ByteAddOp adds it, with `sum` for a and the addend for b.
struct ByteConvOp {
  ConvOp conv;
  int x_zero = 0, zero = 0, low = 0, high = 255;
  bool adds = false;
  ByteAddOp sum = {};
};
struct ByteMeanOp {  ///< of each map: round((its sum - pixels * x_zero) * (factor / pixels)) + zero
  float factor = 1;
  int x_zero = 0, zero = 0, low = 0, high = 255;
};
/// Channels joined, each input's levels by a table of its own: round((x - zero of the part) * scale of the part /
/// scale) + zero.
struct ByteConcatOp {
  struct Part {
    float scale = 1;
    int zero = 0;
  };
  std::vector<Part> parts;  ///< by input
  float scale = 1;
  int zero = 0, low = 0, high = 255;
};

// Steps of the engine's own, before and after a network on its device. No model has them.

/// Maps of pixels (uint8, N C H W) scaled to N C side side, which are pixels, too: see resized().
struct ScaleOp {
  int64_t side = 0;
};
/// x * gate, where each image has a number for each channel: excite(w2 * squeeze(w1 * the mean of each map + b1) + b2).
/// Inputs: x (N C H W), w1 (M C 1 1), b1 (M), w2 (C M 1 1), b2 (C). Plans make it, not graphs.
struct SqueezeExciteOp {
  Activation squeeze, excite;
};
/// N ... gives N: the place of the largest of each image's numbers, as float32; the first of equals, NaN where one of
/// the numbers is NaN.
struct ArgMaxOp {
  bool finite = false;  ///< NaN also where the largest is infinite: a softmax would make NaN of all
};

using AnyOp =
    std::variant<ConvOp, ConvTransposeOp, PoolOp, MaxPoolIndicesOp, MaxUnpoolOp, LpPoolOp, GlobalAveragePoolOp, LrnOp,
                 ResizeOp, GridSampleOp, ActivationOp, UnaryOp, RoundOp, AddOp, MulOp, BinaryOp, WhereOp, BatchNormOp,
                 NormalizeOp, LpNormalizeOp, SoftmaxOp, ReduceOp, ArgReduceOp, TopKOp, CumSumOp, GemmOp, MatMulOp,
                 EinsumOp, ConcatOp, FlattenOp, ReshapeOp, SqueezeOp, UnsqueezeOp, TransposeOp, PadOp, SliceOp,
                 ExpandOp, TileOp, DepthToSpaceOp, SpaceToDepthOp, TriluOp, GatherOp, GatherElementsOp, GatherNdOp,
                 ScatterElementsOp, ScatterNdOp, QuantizeOp, DequantizeOp, QLinearConvOp, ConvIntegerOp,
                 QLinearMatMulOp, MatMulIntegerOp, ByteAddOp, ByteConvOp, ByteMeanOp, ByteConcatOp, ScaleOp,
                 SqueezeExciteOp, ArgMaxOp>;

/// T's place among the operators, counted from 0; their number for another type.
template <typename T>
constexpr size_t place_of_op() {
  return []<typename... Ops>(std::type_identity<std::variant<Ops...>>) {
    size_t place = 0;
    const bool found = ((std::is_same_v<T, Ops> || (++place, false)) || ...);
    return found ? place : sizeof...(Ops);
  }(std::type_identity<AnyOp>());
}

/// One of the operators, for std::get_if, std::visit and their like; ConvOp by default. What makes, copies and destroys
/// it is compiled once, in op.cc: for so many operators the compiler takes seconds.
class Op : public AnyOp {
 public:
  Op();
  template <typename T>
  requires(place_of_op<T>() < std::variant_size_v<AnyOp>) Op(T op) : Op(place_of_op<T>(), &op) {}
  Op(const Op&);
  Op(Op&&) noexcept;
  Op& operator=(const Op&);
  Op& operator=(Op&&) noexcept;
  ~Op();

 private:
  Op(size_t place, void* op);  ///< takes over the operator at `op`
};

/// ONNX's name of the operator ("Conv", "MaxPool", ...), for messages and tables.
std::string name_of(const Op& op);

}  // namespace convlab
