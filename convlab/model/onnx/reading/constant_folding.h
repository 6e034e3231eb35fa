#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

using Constants = std::vector<std::reference_wrapper<const Tensor>>;

/// The shape of the result of an operator that only rearranges its inputs (Reshape, Flatten, Squeeze, Unsqueeze,
/// Transpose, Concat), for constants of any one type; nullopt for operators that compute. Error(bad_input) with the
/// reason alone where shapes do not fit.
std::optional<Shape> rearranged_shape(const Op& op, const Constants& inputs);

/// The whole numbers, scales and zero points that DequantizeLinear is given. Error(bad_input) as rearranged_shape().
WholeConstant whole_constant(const DequantizeOp& op, const Constants& inputs);

/// The real numbers that they stand for, as float32.
Tensor dequantized(const WholeConstant& constant);

/// The result, of that shape.
Tensor rearranged(const Op& op, const Constants& inputs, const Shape& shape);

}  // namespace convlab
