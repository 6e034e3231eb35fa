#pragma once

#include <vector>

#include "convlab/base/entropy.h"
#include "convlab/conv/problem.h"

namespace convlab::judge {

/// Returns hidden shapes for verification, two per layer. Channels, output channels and filters do not exceed the
/// layer's, and images have at most 40 pixels a side, so a file whose static arrays fit the layers can pass. Images are
/// never square. One shape has a few images; the other has many small ones, more than kernels batch together.
std::vector<ConvProblem> hidden_shapes(const std::vector<ConvProblem>& layers, KeyedRng& random);

}  // namespace convlab::judge
