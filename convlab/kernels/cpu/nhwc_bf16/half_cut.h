#pragma once

#include <cstdint>

#include "convlab/kernels/cpu/nhwc_bf16/half_source.h"
#include "convlab/kernels/cpu/simd/matrix_tiles.h"
#include "convlab/kernels/cpu/simd/pool_rows.h"

namespace convlab {

// Work partition, packed filter layout and scratch of a convolution in bf16 nhwc bfloat16.

/// Packed filter layout: [group][panel][filter row][filter column].
struct HalfFilters {
  int64_t columns, pairs;  ///< columns per filter row; channel pairs per column
  TermTiles terms;
  int64_t panels, places;  ///< per group: panels; output channels, padding included

  HalfFilters(const ConvProblem& problem, const HalfSource& source);

  /// Elements of weights per output channel.
  int64_t map_count(const ConvProblem& problem) const { return problem.r * columns * terms.held() * 2; }
};

/// Partition into work items: [stack of images][group][block of lines][range of panels]. A line is an output row of the
/// step or, if images are joined, an output pixel. A stack is one image, or several whole images whose copies are
/// contiguous.
struct HalfCut {
  int64_t stacks = 1, most_images = 1;       ///< images per stack, at most
  int64_t lines = 0, blocks = 1, parts = 1;  ///< lines per image
  int64_t line_places = 1;                   ///< positions per line of the convolution's output

  HalfCut(const ConvStep& step, const HalfSource& source, int64_t panels, int threads);

  bool pools() const { return step_.epilogue.pool.has_value(); }

  /// Returns the lines of a block.
  RowRange lines_of(int64_t block) const;

  /// Returns the lines of the convolution's output that these lines depend on: more with pooling.
  RowRange summed_for(RowRange some) const;
  int64_t most_summed() const;  ///< per block

 private:
  const ConvStep& step_;
};

/// Bytes of scratch per thread: the input and output offsets of a block's positions, the sums to be pooled and, unless
/// several work items share it, the input copy.
struct HalfScratch {
  int64_t places, pooled, copy, shared;

  HalfScratch(const ConvProblem& problem, const HalfSource& source, const HalfCut& cut);

  int64_t thread_bytes() const { return 2 * places + pooled + (shared > 0 ? 0 : copy); }
  int64_t bytes(int threads) const { return shared + threads * thread_bytes(); }
};

}  // namespace convlab
