#pragma once

#include <optional>
#include <span>

#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// What an operator makes of constants of a few elements: the arithmetic of shapes, in whole numbers of 64 bits where
/// the operands are, and their rearrangements. Comparisons give u8. nullopt where the operator is none of these, or
/// there are many elements. Error(bad_input) with the reason alone: shapes that do not fit, a division by zero, an
/// overflow.
std::optional<Tensor> known_result(const Op& op, std::span<const Tensor* const> operands);

}  // namespace convlab
