#pragma once

#include <cstdint>
#include <vector>

#include "convlab/kernels/kernel.h"
#include "convlab/kernels/step.h"
#include "convlab/tensor/tensor.h"
#include "convlab/verify/fills.h"

namespace convlab {

/// Whether inputs of this kind make sense for the step: integers, if its results are then exact but for a last division
/// or activation; one NaN, if its first input may hold one and its output is not of integers.
bool has_fill(const Step& step, Fill fill);

/// Returns the inputs of a step, nchw: float32, uint8 for kRawPixels, int8 for the weights of a ByteConvOp. They are
/// valid for the operator, and representable in each operand's type. The same seed produces the same values.
///
/// integers: every partial sum, in any order, is exact in the arithmetic of `math` (see IntegerLimits) and
/// representable in the output's type. Functions that round get multiples of 1/2, comparisons and extremes get ties.
/// reals: within the operator's domain, so that results are finite; is_nan and is_inf get what they look for.
/// one_nan: reals, and a NaN in the first input (in WhereOp, in the second) that changes some output.
///
/// Operators on quantized values get integers in their range in each fill; scales are powers of two with `integers`, so
/// that numbers halfway between two quantized values occur, and otherwise reals.
std::vector<Tensor> fill_inputs(const Step& step, Fill fill, uint64_t seed, Math math = Math::fp32);

}  // namespace convlab
