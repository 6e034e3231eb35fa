#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

using Constants = std::vector<std::reference_wrapper<const Tensor>>;

/// The shape of what an operator that only rearranges its inputs (Reshape, Flatten, Squeeze, Unsqueeze, Transpose,
/// Concat) gives for constants of any one type; nullopt for the operators that compute. Error(bad_input) with the
/// reason alone where shapes do not fit.
std::optional<Shape> rearranged_shape(const Op& op, const Constants& inputs);

/// What it gives, of that shape.
Tensor rearranged(const Op& op, const Constants& inputs, const Shape& shape);

}  // namespace convlab
