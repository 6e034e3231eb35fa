#pragma once

#include <cstdint>

#include "convlab/kernels/conv_step.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// The values that fill a step's arrays. The same seed produces the same values on every machine.
enum class Fill {
  integers,      ///< small enough that every product and every partial sum, in any order, is exact: see IntegerLimits
  reals,         ///< sums of about 1, for which activations are not saturated: see fill_images
  signed_reals,  ///< as reals, but never raw pixels
  one_nan,       ///< as reals, and one pixel is NaN (float images only)
};

/// Bounds that make integer sums exact in a kernel's arithmetic. Operands up to `x` and `w` are exact after rounding to
/// the class's operand type. The sum of all terms of one output, its bias and a pooling average over it stay within the
/// integers that the accumulator represents without gaps:
///
///   fp32    12-bit images, 11-bit filters: neither fits in bf16 and not all fit in tf32, so that rounding them shows;
///           sums to 2^24 (24-bit significand)
///   bf16x2  8-bit operands, exact in one bf16, so that the dropped product of the low parts is 0; sums to 2^22
///   tf32    11-bit operands; sums to 2^22: tensor cores align products to the largest and truncate bits below (Fasi,
///           Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", 2021), which leaves two spare bits
///   bf16    8-bit operands; sums to 2^22
///   fp16    8-bit operands; sums to 2^11: the accumulator may be fp16, too
///
/// If even ones are too many, all but one filter element in `period` are 0.
struct IntegerLimits {
  int64_t x = 0, w = 0, bias = 0;
  int64_t period = 1;

  bool operator==(const IntegerLimits&) const = default;
};

IntegerLimits integer_limits(const ConvStep& step, Math math);

/// Returns an image batch of the step, the same for every `layer`. Reals: images of at most three channels are raw
/// pixels, integers in 0..255, as first layers receive them; others are uniform in (-1, 1). one_nan: the NaN is a pixel
/// that some output reads. Another seed produces other values.
Tensor fill_images(const ConvStep& step, Fill fill, const IntegerLimits& limits, uint64_t seed = 0);

/// Returns filters and bias of layer 0, 1, ... Reals are uniform, with a variance for which sums have a standard
/// deviation of about 1.
Tensor fill_filters(const ConvStep& step, Fill fill, const IntegerLimits& limits, int layer, uint64_t seed = 0);
Tensor fill_bias(const ConvStep& step, Fill fill, const IntegerLimits& limits, int layer);

/// Returns the array that a step adds, of the output's shape, with the same distribution as the bias.
Tensor fill_added(const ConvStep& step, Fill fill, const IntegerLimits& limits, int layer);

}  // namespace convlab
