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

// One struct per operator, with ONNX's semantics and order of inputs. Negative axes count from the end. Optional inputs
// are last: an absent one is not in Node::inputs. All values are float32: booleans are 1 or 0, and integers are exact
// up to 2^24.

// Convolution and pooling.

/// How an operator's padding is specified: as numbers, or computed so that the output has ceil(input / stride)
/// elements, or none (valid). Of an odd number of padding elements, one more goes after (same_upper) or before
/// (same_lower) the input. Only explicit_pads uses the numbers; shapes.h resolves the others for an input's shape.
enum class AutoPad { explicit_pads, same_upper, same_lower, valid };

struct ConvOp {  ///< inputs: x (N C H W), w (K C/groups R S), optional bias (K); w and bias are constants
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int64_t groups = 1;
  AutoPad auto_pad = AutoPad::explicit_pads;
};
/// inputs: x (N C H W), w (C K/groups R S), optional bias (K). Nonzero output_h and output_w determine the pads; an odd
/// one goes before the output unless auto_pad is same_upper. Otherwise same_* returns an output of input * stride.
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
/// The indices of a PoolOp's maxima, MaxPool's second output: offsets into all of x, counted row by row within each
/// channel, or column by column. Of equal elements the first counts; NaN is the largest.
struct MaxPoolIndicesOp {
  Pool pool;
  AutoPad auto_pad = AutoPad::explicit_pads;
  bool columns_first = false;
};
/// inputs: x, and indices as MaxPool returns them, into an array of the pooling's input shape. All other elements are
/// 0. If a larger output is requested, the result is in its upper left corner.
struct MaxUnpoolOp {
  Pool pool;           ///< kernel, strides and pads
  Shape output_shape;  ///< four sizes; empty: the pooling's input shape
};
struct LpPoolOp {  ///< (the sum of |x|^p)^(1/p); padding counts as 0
  Pool pool;       ///< its kind is not used
  int64_t p = 2;
  AutoPad auto_pad = AutoPad::explicit_pads;
};
struct GlobalAveragePoolOp {};
/// Adds blocks of pixels to an image, where they overlap (PyTorch's fold). Input: N C*block_h*block_w L, where L counts
/// the blocks' positions row by row, as those of a window over the padded image. Output: N C image_h image_w.
struct Col2ImOp {
  int64_t image_h = 1, image_w = 1, block_h = 1, block_w = 1;
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;

  /// How many positions a block has along each axis.
  int64_t rows() const { return (image_h + pad_top + pad_bottom - dilation_h * (block_h - 1) - 1) / stride_h + 1; }
  int64_t columns() const { return (image_w + pad_left + pad_right - dilation_w * (block_w - 1) - 1) / stride_w + 1; }
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
/// simple is the rule of opset 10: ceil along axes that shrink, floor along others.
enum class NearestRule { round_prefer_floor, round_prefer_ceil, floor, ceil, simple };
enum class AspectRatio { stretch, not_larger, not_smaller };

/// Resize and Upsample. `axes` (empty: all) are the axes of roi and of scales or sizes, whichever is not empty. roi,
/// which only tf_crop_and_resize uses, has all starts, then all ends.
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
struct GridSampleOp {  ///< inputs: x (N C H W), grid (N P Q 2) of coordinates (along W, along H) from -1 to 1
  SampleMode mode = SampleMode::linear;
  SamplePadding padding = SamplePadding::zeros;
  bool align_corners = false;
};

// Elementwise.

struct ActivationOp {
  Activation activation;
};
/// A Cast to float16 or bfloat16 within the graph: rounds the values and stores them as float32.
struct RoundOp {
  bool brain = false;
};
struct UnaryOp {
  UnaryKind kind = UnaryKind::abs;
  float alpha = 0, beta = 0;
};
struct AddOp {};  ///< with NumPy broadcasting
struct MulOp {};
struct BinaryOp {  ///< with NumPy broadcasting
  BinaryKind kind = BinaryKind::subtract;
};
struct WhereOp {};  ///< inputs: condition, a (if nonzero), b (if zero); all three broadcast

// Normalization. All inputs of BatchNormOp except the first are constants.

struct BatchNormOp {  ///< inputs: x (N C ...), scale, shift, mean, variance, each of C elements
  float epsilon = 1e-5f;
};
enum class NormalizePart { result, mean, inverse_deviation };
/// (x - mean) / sqrt(variance + epsilon) * scale + bias; without `center` x / sqrt(mean of x^2 + epsilon) * scale +
/// bias. Inputs: x, optional scale, optional bias. If groups == 0, normalizes over all dimensions from `axis` on; scale
/// and bias broadcast to x. Otherwise x is N C ...; each of `groups` groups of channels is normalized together with all
/// dimensions after them, and scale and bias have C elements. Instance normalization has C groups.
struct NormalizeOp {
  int64_t axis = -1;
  int64_t groups = 0;
  float epsilon = 1e-5f;
  bool center = true;
  NormalizePart part = NormalizePart::result;  ///< the others: LayerNormalization's outputs, size 1 from axis on
};
struct LpNormalizeOp {  ///< x / (the sum of |x|^p along the axis)^(1/p)
  int64_t axis = -1, p = 2;
};
struct LrnOp {  ///< x / (bias + alpha / size * the sum of squares of `size` adjacent channels)^beta
  float alpha = 1e-4f, beta = 0.75f, bias = 1;
  int64_t size = 1;
};
struct SoftmaxOp {
  int64_t axis = -1;
  bool log = false;
  bool flattened = false;  ///< opset < 13: over all dimensions from axis on together, not only axis
};

// Along axes.

enum class ReduceKind { sum, mean, max, min, prod, l1, l2, log_sum, log_sum_exp, sum_square };
struct ReduceOp {
  ReduceKind kind = ReduceKind::sum;
  std::vector<int64_t> axes;  ///< empty: all
  bool keep_dims = true;
};
/// ArgMax and ArgMin: of equal elements the first, or the last; NaN takes precedence over all numbers.
struct ArgReduceOp {
  int64_t axis = 0;
  bool keep_dims = true, largest = true, last = false;
};
/// The k largest or smallest elements, in order, or their indices. Of equal elements the first ones; NaN is larger than
/// all numbers.
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
struct MatMulOp {};  ///< as numpy.matmul, including 1-D operands and broadcast leading dimensions
struct EinsumOp {    ///< as numpy.einsum, including "..."
  std::string equation;
};

// Rearrangements.

struct ConcatOp {
  int64_t axis = 0;
};
struct FlattenOp {
  int64_t axis = 1;
};
struct ReshapeOp {  ///< 0 keeps a size; one -1 is inferred
  Shape shape;
};
struct SqueezeOp {  ///< no axes: all dimensions of size 1
  std::vector<int64_t> axes;
};
struct UnsqueezeOp {
  std::vector<int64_t> axes;
};
struct TransposeOp {  ///< empty: reversed
  std::vector<int64_t> permutation;
};
enum class PadMode { constant, reflect, edge, wrap };
/// pads: before each dimension, then after each dimension. A negative pad crops before any padding: reflect, edge and
/// wrap see the cropped array.
struct PadOp {
  PadMode mode = PadMode::constant;
  std::vector<int64_t> pads;
  float value = 0;
};
/// One start and end per axis. Empty axes: the first ones; empty steps: 1. Ends beyond the array are clamped.
struct SliceOp {
  std::vector<int64_t> starts, ends, axes, steps;
};
/// Broadcasts to this shape, in which -1 is the input's size, as is 1. kImages is `per_image` times the first size of
/// the second input, a value that holds the images and is used only for its size.
struct ExpandOp {
  static constexpr int64_t kImages = -2;
  Shape shape;
  int64_t per_image = 1;
};
struct TileOp {  ///< one repeat per dimension
  std::vector<int64_t> repeats;
};
struct DepthToSpaceOp {
  int64_t block = 1;
  bool columns_rows_depth = false;  ///< CRD: a block is in adjacent channels; otherwise DCR
};
struct SpaceToDepthOp {
  int64_t block = 1;
};
struct TriluOp {
  bool upper = true;
  int64_t k = 0;
};

// Gather and scatter. Negative indices count from the end.

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

// Quantized: integers, with 8 bits in products, whose sums are exact. Scales and zero points have one element, or one
// for each index along an axis.

/// round(x / scale) + zero, saturated to low .. high; inputs: x, scale, optional zero. With a block_size, scale and
/// zero have one element for each `block_size` elements of the axis.
struct QuantizeOp {
  int64_t axis = 1, block_size = 0;
  int low = 0, high = 255;
};
struct DequantizeOp {  ///< (x - zero) * scale; inputs: x, scale, optional zero
  int64_t axis = 1, block_size = 0;
};
/// inputs: x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, optional bias; w_scale and w_zero may have K
/// elements
struct QLinearConvOp {
  ConvOp conv;
  int low = 0, high = 255;
};
struct ConvIntegerOp {  ///< inputs: x, w, optional x_zero, optional w_zero, which may have K elements
  ConvOp conv;
};
/// inputs: a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero. Those of a have one element, or one per row; those
/// of b have one element, or one per column.
struct QLinearMatMulOp {
  int low = 0, high = 255;
};
struct MatMulIntegerOp {};  ///< inputs: a, b, optional a_zero (1 or M elements), optional b_zero (1 or N elements)

// The quantized operators that rewrite/rewrite_to_bytes.h makes, with all constants precomputed; no model has them.
// Quantized values and zero points are 0 to 255. A result with `low` and `high` is rounded half to even, then shifted
// by `zero`, then saturated to low .. high: an activation narrows that range.

struct ByteAddOp {  ///< inputs: a, b; round((a - a_zero) * a_factor + (b - b_zero) * b_factor) + zero
  float a_factor = 1, b_factor = 1;
  int a_zero = 0, b_zero = 0, zero = 0, low = 0, high = 255;
};
/// y = round(sum * factor) + zero for each output channel; inputs: x, w (int8), factors (K), bias (K, integers) and, if
/// it `adds`, a value to add to y. `sum` is that addition, with y as its a and the added value as its b.
struct ByteConvOp {
  ConvOp conv;
  int x_zero = 0, zero = 0, low = 0, high = 255;
  bool adds = false;
  ByteAddOp sum = {};
};
struct ByteMeanOp {  ///< per channel: round((sum of its pixels - pixels * x_zero) * (factor / pixels)) + zero
  float factor = 1;
  int x_zero = 0, zero = 0, low = 0, high = 255;
};
/// Concatenates channels, and requantizes each input with its own table: round((x - zero of the part) * scale of the
/// part / scale) + zero.
struct ByteConcatOp {
  struct Part {
    float scale = 1;
    int zero = 0;
  };
  std::vector<Part> parts;  ///< by input
  float scale = 1;
  int zero = 0, low = 0, high = 255;
};

// Steps that the engine adds before and after a network on its device. No model has them.

/// Scales images of uint8 pixels (N C H W) to N C side side, also uint8: see resized().
struct ScaleOp {
  int64_t side = 0;
};
/// x * gate, with a gate per image and channel: excite(w2 * squeeze(w1 * the mean of each channel + b1) + b2). Inputs:
/// x (N C H W), w1 (M C 1 1), b1 (M), w2 (C M 1 1), b2 (C). Only plans contain it, not graphs.
struct SqueezeExciteOp {
  Activation squeeze, excite;
};
/// Returns N numbers for N ...: the index of the largest element of each image, as float32. Of equal elements the first
/// counts; NaN if an element is NaN.
struct ArgMaxOp {
  bool finite = false;  ///< NaN also if the largest is infinite: a softmax would return NaN for all
};

// Families of operators. Each has a file of its name in convlab/model/ops, convlab/model/onnx/ops and
// convlab/verify/ops, which compiles only if it describes all operators of the family.

template <class... Ops>
struct OpFamily {
  using Variant = std::variant<Ops...>;
};
template <class... As, class... Bs>
OpFamily<As..., Bs...> operator+(OpFamily<As...>, OpFamily<Bs...>);

using WindowOps =
    OpFamily<ConvOp, ConvTransposeOp, PoolOp, MaxPoolIndicesOp, MaxUnpoolOp, LpPoolOp, GlobalAveragePoolOp, Col2ImOp>;
using SamplingOps = OpFamily<ResizeOp, GridSampleOp>;
using ElementwiseOps = OpFamily<ActivationOp, RoundOp, UnaryOp, AddOp, MulOp, BinaryOp, WhereOp>;
using NormalizationOps = OpFamily<BatchNormOp, NormalizeOp, LpNormalizeOp, LrnOp, SoftmaxOp>;
using AxisOps = OpFamily<ReduceOp, ArgReduceOp, TopKOp, CumSumOp>;
using ProductOps = OpFamily<GemmOp, MatMulOp, EinsumOp>;
using RearrangeOps = OpFamily<ConcatOp, FlattenOp, ReshapeOp, SqueezeOp, UnsqueezeOp, TransposeOp, PadOp, SliceOp,
                              ExpandOp, TileOp, DepthToSpaceOp, SpaceToDepthOp, TriluOp>;
using GatherOps = OpFamily<GatherOp, GatherElementsOp, GatherNdOp, ScatterElementsOp, ScatterNdOp>;
using QuantizedOps = OpFamily<QuantizeOp, DequantizeOp, QLinearConvOp, ConvIntegerOp, QLinearMatMulOp, MatMulIntegerOp,
                              ByteAddOp, ByteConvOp, ByteMeanOp, ByteConcatOp>;
using PlanOnlyOps = OpFamily<ScaleOp, SqueezeExciteOp, ArgMaxOp>;

template <class... Families>
struct OpFamilies {
  using Variant = typename decltype((Families() + ...))::Variant;
};
using AllOps = OpFamilies<WindowOps, SamplingOps, ElementwiseOps, NormalizationOps, AxisOps, ProductOps, RearrangeOps,
                          GatherOps, QuantizedOps, PlanOnlyOps>;
using AnyOp = AllOps::Variant;

/// Returns the index of T among the operators, counted from 0; the number of operators if T is not one of them.
template <typename T>
constexpr size_t place_of_op() {
  return []<typename... Ops>(std::type_identity<std::variant<Ops...>>) {
    size_t place = 0;
    const bool found = ((std::is_same_v<T, Ops> || (++place, false)) || ...);
    return found ? place : sizeof...(Ops);
  }(std::type_identity<AnyOp>());
}

/// One of the operators, for std::get_if, std::visit and the like; ConvOp by default. Its constructors, assignments and
/// destructor are compiled once, in op.cc: with this many operators they take the compiler seconds.
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
  Op(size_t place, void* op);  ///< moves the operator from `op`
};

/// Returns ONNX's name of the operator ("Conv", "MaxPool", ...), for messages and tables.
std::string name_of(const Op& op);

}  // namespace convlab
