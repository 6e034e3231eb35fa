#pragma once

#include <cstdint>

#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_jobs.h"

namespace convlab {

/// How a convolution in pairs is computed and partitioned into work items, and the scratch per thread.
struct PairCut {
  bool pooled = false, phases = false, copies = false, split = false, to_plain = false;
  int64_t window = 1;              ///< side of the pooling window
  int64_t step_h = 1;              ///< input rows from one output row to the next
  int64_t grid_h = 0, grid_w = 0;  ///< rows and columns of the output
  int64_t blocks = 0, bands = 0;   ///< blocks of 16 images, and bands of rows of each
  int64_t rows = 0;                ///< output rows per band
  int64_t channel_pairs = 0;       ///< per pixel
  int64_t held_h = 0, held_w = 0;  ///< input rows and columns as they are read (with phases, pairs of columns)
  int64_t places = 0;              ///< positions per band: see PairConvolution
  int64_t run = 0;                 ///< outputs computed at a time
  int64_t pixels_bytes = 0, window_bytes = 0, lanes_bytes = 0, sums_bytes = 0;  ///< scratch per thread

  int64_t scratch_bytes() const { return pixels_bytes + window_bytes + lanes_bytes + sums_bytes; }
  /// Bytes of a pixel; with phases, of a pair of uint8 pixels.
  int64_t pixel_bytes() const { return phases ? 2 * kImageLanes : channel_pairs * kPairBytes; }
  int64_t held_row() const { return held_w * pixel_bytes(); }
  int64_t held_plane() const { return held_h * held_row(); }
  int64_t window_side() const { return window_bytes / (phases ? window : 1); }  ///< bytes for one row of the output

  /// Returns the input rows that `output_rows` output rows read.
  int64_t rows_below(const ConvProblem& problem, int64_t output_rows) const {
    return (output_rows * window - 1) * problem.stride_h + (problem.r - 1) * problem.dilation_h + 1;
  }
};

PairCut pair_cut(const ConvStep& step, Math math, int threads);

}  // namespace convlab
