#pragma once

#include <cstdint>

#include "convlab/kernels/kernel.h"

namespace convlab {

// Shared by dense layers with 16 images in the lanes, for any element type: alpha * A * B' + C, B constant.

/// Returns why the step is not supported, apart from a kernel's arithmetic. `layout` is the kernel's input layout.
Refusal refuse_lane_dense(const Step& step, Format format);

/// The sizes of a step, and its weights.
struct LaneDense {
  explicit LaneDense(const Step& step);

  /// Returns the weight of K index i for output j, times alpha.
  float weight(const float* b, int64_t i, int64_t j) const {
    return alpha * b[transpose_b ? j * k + i : i * outputs + j];
  }

  int64_t n = 0, k = 0, outputs = 0;
  float alpha = 1;
  bool transpose_b = false;
};

/// Epilogue of a step, for outputs [begin, end) of a block of 16 images: adds C, applies the activation and, if
/// requested, converts to the plain order. `sums` has the images in the lanes, and all blocks.
void finish_lane_dense(const Args& args, float* sums, int64_t block, int64_t begin, int64_t end);

/// Some blocks of 16 images times some tiles of outputs.
struct DensePiece {
  int64_t block = 0, blocks = 0;
  int64_t tile = 0, tiles_end = 0;
};

/// All work items. They are few and of equal size, because each streams all of its weights from memory through the
/// cache.
class DensePieces {
 public:
  DensePieces() = default;

  /// Partitions into work items of at most `most_blocks` blocks, and enough of them for all threads.
  DensePieces(int64_t blocks, int64_t tiles, int64_t most_blocks, int threads);

  int64_t blocks() const { return blocks_; }
  int64_t count() const;
  DensePiece operator[](int64_t piece) const;

 private:
  int64_t blocks_ = 0, tiles_ = 0;
  int64_t image_pieces_ = 0;
  int64_t tiles_each_ = 0, across_ = 0;  ///< tiles per work item; work items for the same images
};

}  // namespace convlab
