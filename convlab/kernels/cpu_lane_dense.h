#pragma once

#include <cstdint>

#include "convlab/kernels/op.h"

namespace convlab {

// What dense layers of images in lanes have in common, whatever their elements are: alpha * A * B' + C, B constant.

/// Why not, apart from what a kernel's arithmetic asks for. `layout` is the one that it takes.
Refusal refuse_lane_dense(const OpStep& step, Layout layout);

/// Some blocks of 16 images times some tiles of outputs.
struct DensePiece {
  int64_t block = 0, blocks = 0;
  int64_t tile = 0, tiles_end = 0;
};

/// All of them. They are few and of one size: each takes all of its weights, which come from afar, through the cache.
class DensePieces {
 public:
  DensePieces() = default;

  /// Of at most `most_blocks` blocks, and enough for all threads.
  DensePieces(int64_t images, int64_t tiles, int64_t most_blocks, int threads);

  int64_t blocks() const { return blocks_; }
  int64_t count() const;
  DensePiece operator[](int64_t piece) const;

 private:
  int64_t blocks_ = 0, tiles_ = 0;
  int64_t blocks_each_ = 0, tiles_each_ = 0;
  int64_t across_ = 0;  ///< pieces for the same images
};

}  // namespace convlab
