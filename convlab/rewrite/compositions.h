#pragma once

#include "convlab/model/graph.h"

namespace convlab {

/// Replaces sequences of operators that exporters write for one function by that function: x * sigmoid(x), x *
/// hard_sigmoid(x), GELU by erf, layer normalization and RMS normalization. No other node may read the intermediate
/// values. `inputs`: the shapes of a run.
void fuse_compositions(Graph& graph, InputShapes inputs);

}  // namespace convlab
