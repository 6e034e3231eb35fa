#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_jobs.h"
#include "convlab/kernels/cpu/simd/bf16_tiles.h"

namespace convlab {

void convolve_pairs(Bf16Unit unit, const PairConvolution& job);

void multiply_pairs(Bf16Unit unit, const PairDense& job);

/// Sets to[map] = bias[map], or 0 if `bias` is null; NaN becomes the quiet NaN, which stays NaN when rounded to bf16.
void quiet_bias(const float* bias, int64_t maps, float* to);

/// Packs pixels of 16 images into pairs: pair j of `high`, at j * step bytes, is even[j * float_step + i] and odd[j *
/// float_step + i], i < 16, rounded to the nearest bf16. Pair j of `low`, if given, holds the residuals. If odd is
/// null, it counts as zeros.
void pack_pairs(const float* even, const float* odd, int64_t count, int64_t float_step, std::byte* high, std::byte* low,
                int64_t step);

/// Same for uint8 pixels, which bf16 represents exactly.
void pack_pairs(const uint8_t* even, const uint8_t* odd, int64_t count, int64_t byte_step, std::byte* to, int64_t step);

}  // namespace convlab
