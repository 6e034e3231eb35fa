#pragma once

#include <cstdint>

#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_weights.h"

namespace convlab {

// Filters of a convolution in pairs, packed as tiles A: see bf16_jobs.h, and pair_conv.cc for the phases.

/// Whether a step pairs each pixel with its right neighbor instead of pairing neighboring channels.
bool takes_phases(const ConvStep& step);

/// Returns how many rotated copies of the filters are packed: copy i has filter row (j - i) mod r at row j. More than
/// one only with phases.
int64_t filter_rotations(const ConvStep& step);

/// K dimension of a filter: `segments` filter rows (or elements, if dilated) that are not contiguous, each split in
/// tiles.
struct FilterTerms {
  int64_t segments;
  TermTiles tiles;
};
FilterTerms filter_terms(const ConvStep& step);

/// Returns the tiles of all filters, in one rotation, without their data.
TileWeights filter_tiles(const ConvStep& step, Math math);

/// Packs all rotations, one after the other, from args.w to args.prepared.
void pack_filters(const ConvArgs& args, Math math);

/// Whether no sum can be NaN or infinite for any input: pixels are uint8, and no weight is too large.
bool gives_finite_sums(const ConvArgs& args);

}  // namespace convlab
