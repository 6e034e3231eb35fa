#pragma once

#include "convlab/model/graph.h"

namespace convlab {

/// Operators in a row that exporters write where a network has one function become that function: x * sigmoid(x) and
/// x * hard_sigmoid(x), the GELU by erf, the normalization of a layer and that by the root of the mean square. Of what
/// they compute on the way nobody else reads anything. `inputs`: the shapes of a run.
void fuse_compositions(Graph& graph, InputShapes inputs);

}  // namespace convlab
