#pragma once

#include "convlab/model/graph.h"

namespace convlab {

/// Rewrites the quantized parts of a graph to operators on 8-bit quantized values (ByteConvOp and the like), without
/// real numbers in between: the nodes between DequantizeLinear and QuantizeLinear (convolutions, dense layers,
/// additions, global average pools, concatenations of channels; before QuantizeLinear possibly Relu or Clip, which
/// narrow the range of values), and QLinearConv. Their sums equal those of the integer operators. Compared with the
/// real operators that they replace: a result halfway between two quantized values may round to the other one; a bias
/// that is not a multiple of the accumulator's unit is rounded to one if that changes the result by at most 1/32 of a
/// quantized value; NaN becomes the lowest quantized value. A convolution is fused with the addition after it. int8
/// values are shifted up by 128. Nodes that do not fit stay as they are. Throws the same errors as infer_shapes().
void rewrite_to_bytes(Graph& graph, InputShapes inputs);

/// Fuses an addition with a convolution that has no other consumer. This is a part of rewrite_to_bytes().
void join_additions(Graph& graph);

/// Shifts int8 quantized values up by 128, with the zero points of all nodes that produce and consume them. This is a
/// part of rewrite_to_bytes().
void move_levels_up(Graph& graph);

}  // namespace convlab
