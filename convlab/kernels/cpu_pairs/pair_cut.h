#pragma once

#include <cstdint>

#include "convlab/kernels/cpu_pairs/bf16_sums.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

/// How a convolution in pairs is computed and cut into pieces, and what scratch each thread needs for it.
struct PairCut {
  bool pooled = false, phases = false, copies = false, split = false, to_plain = false;
  int64_t window = 1;              ///< side of the squares that are pooled
  int64_t step_h = 1;              ///< input rows from one output row to the next
  int64_t grid_h = 0, grid_w = 0;  ///< rows and columns of the output
  int64_t blocks = 0, bands = 0;   ///< of 16 images, and of rows of each
  int64_t rows = 0;                ///< output rows of a band
  int64_t channel_pairs = 0;       ///< of a pixel
  int64_t held_h = 0, held_w = 0;  ///< rows, and columns (with phases, pairs of them), as they are read
  int64_t places = 0;              ///< of a band: see PairConvolution
  int64_t run = 0;                 ///< outputs computed at a time
  int64_t pixels_bytes = 0, window_bytes = 0, lanes_bytes = 0, sums_bytes = 0;  ///< of a thread's scratch

  int64_t scratch_bytes() const { return pixels_bytes + window_bytes + lanes_bytes + sums_bytes; }
  /// A pixel's; with phases, those of a pair of pixels, which are bytes still.
  int64_t pixel_bytes() const { return phases ? 2 * kImageLanes : channel_pairs * kPairBytes; }
  int64_t held_row() const { return held_w * pixel_bytes(); }
  int64_t held_plane() const { return held_h * held_row(); }
  int64_t window_side() const { return window_bytes / (phases ? window : 1); }  ///< bytes for one row of the output

  /// Input rows under this many rows of output.
  int64_t rows_below(const ConvProblem& problem, int64_t output_rows) const {
    return (output_rows * window - 1) * problem.stride_h + (problem.r - 1) * problem.dilation_h + 1;
  }
};

PairCut pair_cut(const ConvStep& step, Math math, int threads);

}  // namespace convlab
