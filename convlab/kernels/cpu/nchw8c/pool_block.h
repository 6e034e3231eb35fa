#pragma once

#include <cstdint>
#include <vector>

#include "convlab/conv/epilogue.h"

namespace convlab {

/// The taps of an output's window that are inside the input, along one dimension.
struct PoolSpan {
  int64_t first = 0;    ///< position of the first tap
  int64_t taps = 0;     ///< number of taps
  int64_t counted = 0;  ///< divisor of an average: `taps`, or including taps in the padding
};

/// The windows over a block of 8 channels in nchw8c.
struct BlockPool {
  PoolKind kind = PoolKind::max;
  std::vector<PoolSpan> rows, columns;  ///< per output
  int64_t width = 0;                    ///< of the block
  int64_t taps = 1, stride = 1;         ///< of windows along the width
  int64_t row_dilation = 1, column_dilation = 1;
};

/// Returns the windows of a PoolOp over planes of `height` by `width`.
BlockPool block_pool(const Pool& pool, int64_t height, int64_t width);

/// Returns one window over all pixels, averaged.
BlockPool block_mean(int64_t pixels);

/// Computes the pooled rows [first, first + count) of the block `x` and writes them to y. A maximum is NaN if any
/// element is NaN, and -infinity if the window has no elements. Averages are summed in double.
void pool_block(const BlockPool& pool, const float* x, int64_t first, int64_t count, float* y);

}  // namespace convlab
