#pragma once

#include <cstdint>

#include "convlab/kernels/op.h"

namespace convlab {

// What dense layers of images in lanes share, whatever their elements: alpha * A * B' + C, B constant.

/// Why not, apart from a kernel's arithmetic. `layout` is the one that the kernel takes.
Refusal refuse_lane_dense(const OpStep& step, Layout layout);

/// The sizes of a step, and its weights.
struct LaneDense {
  explicit LaneDense(const OpStep& step);

  /// Of term i in output j, times alpha.
  float weight(const float* b, int64_t i, int64_t j) const {
    return alpha * b[transpose_b ? j * k + i : i * outputs + j];
  }

  int64_t n = 0, k = 0, outputs = 0;
  float alpha = 1;
  bool transpose_b = false;
};

/// The end of a step, for outputs [begin, end) of a block of 16 images: what is added, the activation and, if asked
/// for, the plain order. `sums`: in lanes, of all blocks.
void finish_lane_dense(const OpArgs& args, float* sums, int64_t block, int64_t begin, int64_t end);

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
  DensePieces(int64_t blocks, int64_t tiles, int64_t most_blocks, int threads);

  int64_t blocks() const { return blocks_; }
  int64_t count() const;
  DensePiece operator[](int64_t piece) const;

 private:
  int64_t blocks_ = 0, tiles_ = 0;
  int64_t image_pieces_ = 0;
  int64_t tiles_each_ = 0, across_ = 0;  ///< of a piece; pieces for the same images
};

}  // namespace convlab
