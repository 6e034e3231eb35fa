#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convlab/conv/epilogue.h"
#include "convlab/conv/problem.h"
#include "convlab/model/graph.h"

namespace convlab {

// The shape that an operator makes from its inputs' shapes: ONNX's rules, one operator at a time. Each throws
// Error(bad_input) with the reason alone; infer_shapes adds node and operator.

/// The convolution of x (N C H W) by w (K C/groups R S), validated, auto_pad resolved.
ConvProblem conv_problem(const ConvOp& op, const Shape& x, const Shape& w);

/// The pooling of x (N C H W) with explicit padding: auto_pad resolved, and ceil_mode off where it makes no difference.
/// Each window holds at least one element of x.
Pool resolved_pool(const PoolOp& op, const Shape& x);

/// The transposed convolution of x by w: where its output begins in the one without pads, and the output's size.
struct TransposedConv {
  int64_t pad_top = 0, pad_left = 0;
  int64_t output_h = 0, output_w = 0;
};
TransposedConv transposed_conv(const ConvTransposeOp& op, const Shape& x, const Shape& w);

/// The shape in which MaxUnpoolOp's indices count: the window undone.
Shape unpooled_shape(const MaxUnpoolOp& op, const Shape& x);

/// What ResizeOp does to one axis.
struct ResizedAxis {
  int64_t size = 0;  ///< the output's
  float scale = 1;
  float length = 0;  ///< the output's before it is rounded down: scale * the input's
  float roi_start = 0, roi_end = 1;
  bool changes = false;
};
std::vector<ResizedAxis> resized_axes(const ResizeOp& op, const Shape& x);

/// The elements of one axis that SliceOp takes: start + i * step for i in [0, count). No network has an array without
/// elements, but a list of sizes may be one.
struct SliceRange {
  int64_t start = 0, step = 1, count = 0;
};
std::vector<SliceRange> slice_ranges(const SliceOp& op, const Shape& x, bool may_be_empty = false);

/// By dimension, whether ReduceOp goes over it.
std::vector<bool> reduced_axes(const ReduceOp& op, size_t rank);

/// numpy's rule: aligned at the last dimension, sizes are equal or 1.
Shape broadcast_shape(const Shape& a, const Shape& b);

/// The axis counted from the front: -1 is the last of `rank` dimensions. It must lie in [-rank, rank).
int64_t normalized_axis(int64_t axis, int64_t rank);

/// The shape of the operator's output.
Shape output_shape(const Op& op, std::span<const Shape> inputs);

}  // namespace convlab
