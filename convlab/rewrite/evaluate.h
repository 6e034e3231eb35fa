#pragma once

#include <cstdint>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Whether the operator only reshapes: its output is its first input with another shape.
bool only_reshapes(const Op& op);

/// The memory and work that remain for the results of operators on constants.
struct EvaluationLimits {
  int64_t bytes = 0, multiply_adds = 0;
};

/// Returns the result of an operator on constants: of a convolution by cpu.reference, of other operators by the CPU
/// kernels. Subtracts its cost from `left`. Throws Error(bad_input), before it allocates anything, if shapes do not fit
/// or too little is left.
Tensor evaluate(const Op& op, const std::vector<const Tensor*>& inputs, EvaluationLimits& left);

}  // namespace convlab
