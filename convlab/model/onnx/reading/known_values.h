#pragma once

#include <optional>
#include <span>

#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Returns the result of an operator on constants of a few elements: the arithmetic of shapes, in 64-bit integers if
/// the operands are integers, and rearrangements. Comparisons return u8. Returns nullopt for other operators and for
/// many elements. Throws Error(bad_input) with only the reason: shapes that do not fit, a division by zero, an
/// overflow.
std::optional<Tensor> known_result(const Op& op, std::span<const Tensor* const> operands);

}  // namespace convlab
