#pragma once

#include <vector>

#include "convlab/base/entropy.h"
#include "convlab/conv/problem.h"

namespace convlab::judge {

/// Shapes on which a submission must be right without knowing them, two for each layer: not larger than the layer in
/// channels, maps and filters, and at most 40 pixels a side, so that a file whose arrays suffice for the layers can be
/// right on them. None is square. One has a few images, one has more images than kernels take together, and small ones.
std::vector<ConvProblem> hidden_shapes(const std::vector<ConvProblem>& layers, KeyedRng& random);

}  // namespace convlab::judge
