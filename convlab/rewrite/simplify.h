#pragma once

#include "convlab/model/graph.h"

namespace convlab {

/// Evaluates operators whose inputs are all constants, with the CPU kernels. Throws Error(bad_input) that names the
/// node if shapes do not fit, or if the results, or the work to compute them, would be far larger than the model.
void fold_constants(Graph& graph);

/// Returns the graph as the planner reads it. Evaluates operators whose inputs are all constants. With `into_weights`,
/// folds linear operators into the weights before them, in double: batch normalization, and addition of or
/// multiplication by a constant per output channel. Zero padding becomes padding of the convolution, and MatMul of a
/// matrix by a constant becomes Gemm. Compositions become functions (see fuse_compositions()). Only values without
/// other consumers are fused. The result is valid for every batch size, which is the first size of an input. Throws the
/// same errors as infer_shapes().
Graph simplified(Graph graph, InputShapes inputs, bool into_weights);

}  // namespace convlab
