#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convlab/conv/epilogue.h"
#include "convlab/conv/problem.h"
#include "convlab/model/graph.h"

namespace convlab {

// Shape inference for one operator at a time, by ONNX's rules. Each function throws Error(bad_input) with only the
// reason; infer_shapes() adds node and operator.

/// Returns the convolution of x (N C H W) by w (K C/groups R S), validated, with auto_pad resolved.
ConvProblem conv_problem(const ConvOp& op, const Shape& x, const Shape& w);

/// Returns the pooling of x (N C H W) with explicit padding: auto_pad is resolved, and ceil_mode is off if it makes no
/// difference. Each window has at least one element of x.
Pool resolved_pool(const PoolOp& op, const Shape& x);

/// The transposed convolution of x by w: the offset of its output in the output without pads, and the output's size.
struct TransposedConv {
  int64_t pad_top = 0, pad_left = 0;
  int64_t output_h = 0, output_w = 0;
};
TransposedConv transposed_conv(const ConvTransposeOp& op, const Shape& x, const Shape& w);

/// Returns the shape into which MaxUnpoolOp's indices point: the pooling's input shape.
Shape unpooled_shape(const MaxUnpoolOp& op, const Shape& x);

/// The effect of ResizeOp on one axis.
struct ResizedAxis {
  int64_t size = 0;  ///< of the output
  float scale = 1;
  float length = 0;  ///< of the output before rounding down: scale * the input's size
  float roi_start = 0, roi_end = 1;
  bool changes = false;
};
std::vector<ResizedAxis> resized_axes(const ResizeOp& op, const Shape& x);

/// The elements of one axis that SliceOp keeps: start + i * step for i in [0, count). Arrays in a network are never
/// empty, but a list of sizes may be.
struct SliceRange {
  int64_t start = 0, step = 1, count = 0;
};
std::vector<SliceRange> slice_ranges(const SliceOp& op, const Shape& x, bool may_be_empty = false);

/// Returns, by dimension, whether ReduceOp reduces it.
std::vector<bool> reduced_axes(const ReduceOp& op, size_t rank);

/// Returns the broadcast shape by NumPy's rule: aligned at the last dimension, sizes are equal or 1.
Shape broadcast_shape(const Shape& a, const Shape& b);

/// Returns the axis counted from the front: -1 is the last of `rank` dimensions. Throws unless it is in [-rank, rank).
int64_t normalized_axis(int64_t axis, int64_t rank);

/// Returns the shape of the operator's output.
Shape output_shape(const Op& op, std::span<const Shape> inputs);

}  // namespace convlab
