#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

using Constants = std::vector<std::reference_wrapper<const Tensor>>;

/// Returns the shape of the result of an operator that only rearranges its inputs (Reshape, Flatten, Squeeze,
/// Unsqueeze, Transpose, Concat), for constants of the same type; nullopt for operators that compute. Throws
/// Error(bad_input) with only the reason if shapes do not fit.
std::optional<Shape> rearranged_shape(const Op& op, const Constants& inputs);

/// Returns the integers, scales and zero points of a DequantizeLinear. Throws the same errors as rearranged_shape().
WholeConstant whole_constant(const DequantizeOp& op, const Constants& inputs);

/// Returns the real numbers that they represent, as float32.
Tensor dequantized(const WholeConstant& constant);

/// Returns the result of the operator, with the shape from rearranged_shape().
Tensor rearranged(const Op& op, const Constants& inputs, const Shape& shape);

}  // namespace convlab
