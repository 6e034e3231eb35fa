#pragma once

#include <cstdint>
#include <vector>

#include "convlab/conv/epilogue.h"

namespace convlab {

/// Of an output's window, along one dimension, the taps that lie inside.
struct PoolSpan {
  int64_t first = 0;    ///< the place of the first
  int64_t taps = 0;     ///< how many there are
  int64_t counted = 0;  ///< what an average divides by: `taps`, or those in padding, too
};

/// The windows over a block of 8 channels in Layout::channel_lanes.
struct BlockPool {
  PoolKind kind = PoolKind::max;
  std::vector<PoolSpan> rows, columns;  ///< by output
  int64_t width = 0;                    ///< of the block
  int64_t taps = 1, stride = 1;         ///< of windows along the width
  int64_t row_dilation = 1, column_dilation = 1;
};

/// The windows of a PoolOp over maps of `height` by `width`.
BlockPool block_pool(const Pool& pool, int64_t height, int64_t width);

/// One window over all pixels.
BlockPool block_mean(int64_t pixels);

/// Writes the pooled rows [first, first + count) of the block `x`, the first of them to y. A maximum is NaN where any
/// element is, and -infinity where there is none; averages are summed in double.
void pool_block(const BlockPool& pool, const float* x, int64_t first, int64_t count, float* y);

}  // namespace convlab
