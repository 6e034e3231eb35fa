#pragma once

#include <cstdint>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// An operator that moves nothing: its output is its first input under another shape.
bool only_reshapes(const Op& op);

/// What is left of memory and work for the results of operators of constants.
struct EvaluationLimits {
  int64_t bytes = 0, multiply_adds = 0;
};

/// What an operator makes of constants: by cpu.reference where it is a convolution, by the CPU's kernels otherwise.
/// Subtracts what that takes from `left`. Error(bad_input), before anything is allocated, where shapes do not fit or
/// too little is left.
Tensor evaluate(const Op& op, const std::vector<const Tensor*>& inputs, EvaluationLimits& left);

}  // namespace convlab
