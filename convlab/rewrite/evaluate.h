#pragma once

#include <cstdint>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// An operator that moves nothing: its output is its first input under another shape.
bool only_reshapes(const Op& op);

/// What an operator makes of constants: by cpu.reference where it is a convolution, by the CPU's kernels otherwise.
/// Error(bad_input) where shapes do not fit, or where the result would be larger than `most_bytes`.
Tensor evaluate(const Op& op, const std::vector<const Tensor*>& inputs, int64_t most_bytes);

}  // namespace convlab
