#pragma once

#include <cstdint>

#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/cpu/simd/pool_rows.h"

namespace convlab {

/// Applies the activation to `count` values in place, vectorized; math-inl.h states the errors.
void activate(const Activation& activation, float* values, int64_t count);

/// The epilogue of a fused step whose sums are already pooled: adds the bias if there is one, and applies the
/// activation.
void add_bias_and_activate(const Epilogue& epilogue, float bias, float* values, int64_t count);

/// Returns the convolution rows that output rows [first, first + count) need: the same ones unless the step pools.
RowRange rows_under(const ConvStep& step, int64_t first, int64_t count);

/// The epilogue of a fused step for some rows of one output channel: adds `bias`, pools, and applies the activation.
/// `sums` holds the convolution's rows `have` densely and is overwritten; `y` is the output channel's whole image, of
/// which `count` rows from `first` on are written. `have` must cover rows_under(step, first, count). sums == y + first
/// * width is allowed if nothing is pooled.
void finish_rows(const ConvStep& step, float* sums, RowRange have, float bias, int64_t first, int64_t count, float* y);

}  // namespace convlab
