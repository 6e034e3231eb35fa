#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

/// What an operator that only rearranges its inputs (Reshape, Flatten, Squeeze, Unsqueeze, Transpose, Concat) gives for
/// constants of any one type; nullopt for the operators that compute. Error(bad_input) with the reason alone where
/// shapes do not fit.
std::optional<Tensor> rearranged(const Op& op, const std::vector<std::reference_wrapper<const Tensor>>& inputs);

}  // namespace convlab
