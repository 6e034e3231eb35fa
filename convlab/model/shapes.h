#pragma once

#include <cstdint>
#include <span>

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

/// numpy's rule: aligned at the last dimension, sizes are equal or 1.
Shape broadcast_shape(const Shape& a, const Shape& b);

/// The axis counted from the front: -1 is the last of `rank` dimensions. It must lie in [-rank, rank).
int64_t normalized_axis(int64_t axis, int64_t rank);

/// The shape of the operator's output.
Shape output_shape(const Op& op, std::span<const Shape> inputs);

}  // namespace convlab
