// Shared by dense layers with 16 images in the lanes: refusals, epilogue and work partition.

#include "convlab/kernels/cpu/nchw16n/lane_dense.h"

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/simd/lane_order.h"
#include "convlab/kernels/cpu/simd/vector_epilogue.h"

namespace convlab {

Refusal refuse_lane_dense(const Step& step, Format format) {
  const auto* gemm = std::get_if<GemmOp>(&step.op);
  if (gemm == nullptr) return "only Gemm is supported";
  if (step.inputs[0].format != format) return fmt::format("input must be {}", name_of(format));
  if (gemm->transpose_a) return "transposed A is not supported";
  if (step.inputs.size() < 2 || step.inputs[0].constant || !step.inputs[1].constant) return "weights must be constant";
  if (step.inputs.size() > 2) {
    if (gemm->beta != 1) return "beta must be 1";
    const Shape& shape = step.inputs[2].shape;
    if (shape.size() == 2 && shape[0] != 1) return "C must be the same for each image";
  }
  return std::nullopt;
}

LaneDense::LaneDense(const Step& step)
    : n(step.outputs[0].shape[0]), k(step.inputs[0].shape[1]), outputs(step.outputs[0].shape[1]) {
  const auto& gemm = std::get<GemmOp>(step.op);
  alpha = gemm.alpha;
  transpose_b = gemm.transpose_b;
}

void finish_lane_dense(const Args& args, float* sums, int64_t block, int64_t begin, int64_t end) {
  const int64_t outputs = args.step.outputs[0].shape[1];
  const Epilogue epilogue{.bias = args.inputs.size() > 2, .activation = args.step.epilogue.activation};
  const bool same_for_all = epilogue.bias && element_count(args.step.inputs[2].shape) == 1;
  float* const y = sums + (block * outputs + begin) * kImageLanes;
  for (int64_t j = begin; j < end; ++j) {
    const float addend = epilogue.bias ? args.input(2)[same_for_all ? 0 : j] : 0;
    add_bias_and_activate(epilogue, addend, y + (j - begin) * kImageLanes, kImageLanes);
  }
  if (args.step.outputs[0].format.order != Order::nchw) return;
  from_lanes(y, end - begin, args.output() + block * kImageLanes * outputs + begin, outputs,
             args.step.outputs[0].shape[0] - block * kImageLanes);
}

DensePieces::DensePieces(int64_t blocks, int64_t tiles, int64_t most_blocks, int threads)
    : blocks_(blocks), tiles_(tiles) {
  const int64_t blocks_each = ceil_div(blocks_, threads * ceil_div(blocks_, threads * most_blocks));
  image_pieces_ = ceil_div(blocks_, blocks_each);
  const int64_t wanted = image_pieces_ < threads ? ceil_div(2 * threads, image_pieces_) : 1;
  tiles_each_ = ceil_div(tiles, std::min(wanted, tiles));
  across_ = ceil_div(tiles, tiles_each_);
}

int64_t DensePieces::count() const { return image_pieces_ * across_; }

DensePiece DensePieces::operator[](int64_t piece) const {
  const int64_t images = piece / across_, tile = piece % across_ * tiles_each_;
  const int64_t block = blocks_ * images / image_pieces_, end = blocks_ * (images + 1) / image_pieces_;
  return {block, end - block, tile, std::min(tile + tiles_each_, tiles_)};
}

}  // namespace convlab
