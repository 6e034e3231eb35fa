#pragma once

#include <span>

#include "convlab/kernels/step.h"
#include "convlab/tensor/tensor.h"
#include "convlab/verify/oracle.h"

namespace convlab {

/// Returns the expected output of a step in double, computed from its inputs (nchw; float32, uint8 or int8), including
/// its activation. NaN is where the operator's definition has it.
///
/// Expected::scale is what error_model() multiplies: for matrix products the sum of the magnitudes of a value's terms;
/// for quantized values 1 if float32 may round the number to either of two, otherwise 0; for other operators a bound
/// on the error of a computation in fp32, in units of 2^-24.
Expected expected_output(const Step& step, std::span<const Tensor> inputs);

/// Returns the same with a shape of four sizes, as compare() requires: missing ones are 1, and those beyond the fourth
/// are merged into the last.
Expected as_images(Expected expected);

}  // namespace convlab
