#pragma once

#include <cstdint>

#include "convlab/kernels/cpu_pairs/pair_weights.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

// Filters of a convolution in pairs as tiles A: see bf16_sums.h, and pair_conv.cc for the phases.

/// Whether a step's pixels make pairs with their right neighbours instead of the next channel's.
bool takes_phases(const ConvStep& step);

/// How often filters are kept, with their rows rotated: number i has row (j - i) mod r of the filter in the place of
/// row j. More than once only with phases.
int64_t filter_rotations(const ConvStep& step);

/// Rows of a filter (or its elements, if it is dilated) whose pairs lie apart, and how many pairs each has.
struct FilterTerms {
  int64_t segments;
  TermTiles tiles;
};
FilterTerms filter_terms(const ConvStep& step);

/// The tiles of all filters, in one rotation, without their data.
TileWeights filter_tiles(const ConvStep& step, Math math);

/// Writes them, one rotation behind the other, from args.w to args.prepared.
void pack_filters(const ConvArgs& args, Math math);

/// Whether no sum can be NaN or infinite, whatever the pixels: they are bytes, and no weight is too large.
bool gives_finite_sums(const ConvArgs& args);

}  // namespace convlab
