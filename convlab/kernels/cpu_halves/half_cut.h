#pragma once

#include <cstdint>

#include "convlab/kernels/cpu/matrix_tiles.h"
#include "convlab/kernels/cpu/pool_rows.h"
#include "convlab/kernels/cpu_halves/half_source.h"

namespace convlab {

// How a convolution in Layout::channel_halves is cut into pieces of work, how its filters lie, and what scratch it
// takes.

/// Where filters lie: by group, panel, row and column.
struct HalfFilters {
  int64_t columns, pairs;  ///< of a row of the filter; of a column
  TermTiles terms;
  int64_t panels, places;  ///< of a group: panels, and maps with those that fill them up

  HalfFilters(const ConvProblem& problem, const HalfSource& source);

  /// Elements of a map's weights.
  int64_t map_count(const ConvProblem& problem) const { return problem.r * columns * terms.held() * 2; }
};

/// By stack of images, group, block of lines and part of the panels. A line is a row of what the step gives or, where
/// images are joined, a pixel. A stack has one image, or some, whose copies lie one behind the other, with all of their
/// lines.
struct HalfCut {
  int64_t stacks = 1, most_images = 1;       ///< of a stack
  int64_t lines = 0, blocks = 1, parts = 1;  ///< lines of an image
  int64_t line_places = 1;                   ///< of the convolution's output

  HalfCut(const ConvStep& step, const HalfSource& source, int64_t panels, int threads);

  bool pools() const { return step_.epilogue.pool.has_value(); }

  /// The lines of a block.
  RowRange lines_of(int64_t block) const;

  /// The lines of the convolution's output that these are made of: with pooling, more.
  RowRange summed_for(RowRange some) const;
  int64_t most_summed() const;  ///< of a block

 private:
  const ConvStep& step_;
};

/// Bytes of scratch: of a thread, the places of a block, their pixels, what is to be pooled and, unless the pieces of
/// several parts share them all, its copy.
struct HalfScratch {
  int64_t places, pooled, copy, shared;

  HalfScratch(const ConvProblem& problem, const HalfSource& source, const HalfCut& cut);

  int64_t thread_bytes() const { return 2 * places + pooled + (shared > 0 ? 0 : copy); }
  int64_t bytes(int threads) const { return shared + threads * thread_bytes(); }
};

}  // namespace convlab
