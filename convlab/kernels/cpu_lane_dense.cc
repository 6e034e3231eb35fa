#include "convlab/kernels/cpu_lane_dense.h"

#include <algorithm>

#include "convlab/base/checked.h"

namespace convlab {

Refusal refuse_lane_dense(const OpStep& step, Layout layout) {
  const auto* gemm = std::get_if<GemmOp>(&step.op);
  if (gemm == nullptr) return "computes Gemm";
  if (step.input_layout != layout) return fmt::format("takes {}", name_of(layout));
  if (gemm->transpose_a) return "takes no transposed A";
  if (step.constant.size() < 2 || step.constant[0] || !step.constant[1]) return "takes weights that are constant";
  if (step.inputs.size() > 2) {
    if (gemm->beta != 1) return "adds C as it is, not times beta";
    const Shape& shape = step.inputs[2];
    if (shape.size() == 2 && shape[0] != 1) return "adds the same to each image";
  }
  return std::nullopt;
}

DensePieces::DensePieces(int64_t images, int64_t tiles, int64_t most_blocks, int threads)
    : blocks_(ceil_div(images, kImageLanes)), tiles_(tiles) {
  blocks_each_ = ceil_div(blocks_, threads * ceil_div(blocks_, threads * most_blocks));
  const int64_t image_pieces = ceil_div(blocks_, blocks_each_);
  const int64_t wanted = image_pieces < threads ? ceil_div(2 * threads, image_pieces) : 1;
  tiles_each_ = ceil_div(tiles, std::min(wanted, tiles));
  across_ = ceil_div(tiles, tiles_each_);
}

int64_t DensePieces::count() const { return ceil_div(blocks_, blocks_each_) * across_; }

DensePiece DensePieces::operator[](int64_t piece) const {
  const int64_t block = piece / across_ * blocks_each_, tile = piece % across_ * tiles_each_;
  return {block, std::min(blocks_each_, blocks_ - block), tile, std::min(tile + tiles_each_, tiles_)};
}

}  // namespace convlab
