#pragma once

#include "convlab/kernels/kernel.h"
#include "convlab/kernels/step.h"
#include "convlab/verify/compare.h"

namespace convlab {

/// Bounds of a correct result of a kernel for expected_output() and the inputs of this fill.
///
///   integers   exact, except for an average's division (a reciprocal and a product: 2 u, u = 2^-24), the activation
///              after a matrix product, and its output's rounding to 16 bits
///   products   as in rounding_model(), with one more u for each of alpha and beta
///   quantized  exact, or off by one where float32 may round to either side
///   others     per_scale = u (1 + 2^-6): Expected::scale has the error to first order, in units of u. The rest covers
///              higher orders: k roundings are off by k u (1 + k u) at most, and k is below 2^18 in sums that tests can
///              afford. 2^-125 is for results that may be flushed to 0.
///
/// Kernels with Math::fp16 or tf32 may approximate sigmoid to 2^-20 (see cuda/nhwc/quick_activation.cuh), swish to
/// that times its argument. A 16-bit output is rounded once more, relative to the value, or to 2^-25 if that is
/// subnormal in fp16.
///
/// The limit on the relative L2 error is that of rounding_model() for products; other operators have none.
ErrorModel error_model(const Step& step, const KernelInfo& kernel, Fill fill);

}  // namespace convlab
