#pragma once

#include "convlab/model/graph.h"

namespace convlab {

/// Rewrites the quantized parts of a graph to operators on levels of 8 bits (ByteConvOp and the others beside it), in
/// which nothing becomes a real number: what stands between DequantizeLinear and QuantizeLinear (convolutions, dense
/// layers, additions, global average pools, concatenations of channels; before QuantizeLinear perhaps Relu or Clip,
/// which narrow the levels), and QLinearConv. Their sums are those of the operators of whole numbers; beside the
/// operators of real numbers that they replace, a result may be another level where it lies at the middle between two,
/// a bias that is no multiple of the sums' unit is rounded to one where that is less than 1/32 of a level, and NaN
/// becomes the lowest level. A convolution takes in the addition after it. Levels of int8 are moved up by 128. What
/// does not fit stays as it is. Error(bad_input) as infer_shapes().
void rewrite_to_bytes(Graph& graph, InputShapes inputs);

/// The part of it that moves levels below 0 up by 128, with the zero points of all that gives and reads them.
void move_levels_up(Graph& graph);

}  // namespace convlab
