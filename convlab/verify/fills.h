#pragma once

#include <cstdint>

#include "convlab/kernels/kernel.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// What a step's arrays are filled with. The same seed gives the same values on every machine.
enum class Fill {
  integers,      ///< so small that every product and every partial sum, in any order, is exact: see IntegerLimits
  reals,         ///< sums of about 1, where activations are not saturated: see fill_images
  signed_reals,  ///< as reals, and never raw pixels
  one_nan,       ///< as reals, and one pixel is NaN (float images only)
};

/// Bounds that make sums of integers exact in a kernel's arithmetic. Operands up to `x` and `w` are exact after
/// rounding to the class's operand type, and a sum of all terms of one output, its bias and a pooling average over them
/// stays within the integers that the accumulator holds without gaps:
///
///   fp32    12-bit images, 11-bit filters: neither fits in bf16 and not all in tf32, so that rounding them shows;
///           sums to 2^24 (24-bit significand)
///   bf16x2  8-bit operands, exact in one bf16, so that the dropped product of the low halves is 0; sums to 2^22
///   tf32    11-bit operands; sums to 2^22: tensor cores align products to the largest and cut bits off below (Fasi,
///           Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", 2021), which leaves two bits to
///           spare
///   bf16    8-bit operands; sums to 2^22
///   fp16    8-bit operands; sums to 2^11: the accumulator may be fp16, too
///
/// Where even ones are too many, all but one filter element in `period` are 0.
struct IntegerLimits {
  int64_t x = 0, w = 0, bias = 0;
  int64_t period = 1;

  bool operator==(const IntegerLimits&) const = default;
};

IntegerLimits integer_limits(const ConvStep& step, Math math);

/// An image batch of the step, the same for every `layer`. Reals: images of at most three channels are raw pixels,
/// whole numbers in 0..255, as first layers get them; others are uniform in (-1, 1). NaN: a pixel that outputs read.
/// Another seed gives other values.
Tensor fill_images(const ConvStep& step, Fill fill, const IntegerLimits& limits, uint64_t seed = 0);

/// Filters and bias of layer 0, 1, ... Reals are uniform, with a variance that gives sums a deviation of about 1.
Tensor fill_filters(const ConvStep& step, Fill fill, const IntegerLimits& limits, int layer, uint64_t seed = 0);
Tensor fill_bias(const ConvStep& step, Fill fill, const IntegerLimits& limits, int layer);

/// What a step adds, of the output's shape: numbers like the bias.
Tensor fill_added(const ConvStep& step, Fill fill, const IntegerLimits& limits, int layer);

}  // namespace convlab
