#pragma once

#include "convlab/model/graph.h"

namespace convlab {

/// Evaluates operators of constants alone, by the CPU's kernels. Error(bad_input) that names the node where shapes do
/// not fit, or where the results, or the work to compute them, would be far more than the model is large.
void fold_constants(Graph& graph);

/// The graph as a plan reads it. Operators of constants alone are evaluated. With `into_weights`, what is linear goes
/// into the weights before it, computed in double: batch normalization, additions and multiplications of
/// a constant a map; padding by zeros becomes the convolution's; and MatMul of a matrix by a constant becomes Gemm.
/// Compositions become functions (see fuse_compositions()). Only values that nobody else reads are taken up. The result
/// computes the same for every size of the batch, which is the first of an input. Error(bad_input) as infer_shapes().
Graph simplified(Graph graph, InputShapes inputs, bool into_weights);

}  // namespace convlab
