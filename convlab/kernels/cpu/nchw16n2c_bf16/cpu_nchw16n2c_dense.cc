// cpu.dense_*_bf16 and _bf16x2: alpha * A * B' + C with fused activation, for 16 images in the lanes and channels in
// bf16x2 pairs (`nchw16n2c`); B is constant and packed once. The arithmetic is in bf16_jobs.h.
//
// A's pairs are multiplied in place, in memory order. The weights are packed in that order; Step::written is A's
// shape before it was flattened. A work item is some blocks of 16 images, at most 512 images, times some rows of
// weights. It sums 16 tiles along K at a time, each with all of its rows, so that this range of the weights stays in
// L2, and that of two blocks of images in L1.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nchw16n/lane_dense.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_sums.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_weights.h"
#include "convlab/kernels/cpu/simd/lane_order.h"
#include "convlab/kernels/cpu/simd/pieces.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw16n2c_dense {
namespace {

constexpr int64_t kMostBlocks = 32;

/// Sizes of a step, and how it is partitioned into work items.
struct Cut {
  int64_t n = 0, outputs = 0;
  int64_t channels = 0, pixels = 0;  ///< of an image, as it was written
  TermTiles terms{1};
  TileWeights w;
  DensePieces pieces;  ///< here, a tile is two row tiles
  bool split = false;

  int64_t plane() const { return terms.count * kPairBytes; }
  int64_t block_floats() const { return w.row_tiles * w.shape.rows * kImageLanes; }
};

Cut cut_of(const Step& step, Math math, int threads) {
  Cut cut{.n = step.outputs[0].shape[0],
          .outputs = step.outputs[0].shape[1],
          .channels = step.inputs[0].written[1],
          .pixels = 1};
  for (size_t i = 2; i < step.inputs[0].written.size(); ++i)
    cut.pixels = checked_mul(cut.pixels, step.inputs[0].written[i]);
  cut.terms = TermTiles(checked_mul(cut.pixels, ceil_div(cut.channels, 2)));
  cut.terms.depth = std::min(cut.terms.count, kTileRows);  // full tiles, except perhaps the last one: there are many
  cut.w = tile_weights(cut.outputs, 1, cut.terms, 1, math, false);
  cut.pieces = DensePieces(ceil_div(cut.n, kImageLanes), ceil_div(cut.w.row_tiles, 2), kMostBlocks, threads);
  cut.split = math == Math::bf16x2;
  return cut;
}

Refusal refuse(const Step& step, Math math, Bf16Unit unit) {
  if (Refusal refusal = refuse_lane_dense(step, pairs_layout(math))) return refusal;
  if (step.inputs[0].written.size() < 2) return "input must be at least 2-dimensional";
  return refuse_without(unit);
}

void prepare(const Args& args, Math math) {
  const Cut cut = cut_of(args.step, math, 1);
  const auto& gemm = std::get<GemmOp>(args.step.op);
  const int64_t channel_pairs = ceil_div(cut.channels, 2), terms = cut.channels * cut.pixels;
  const float* b = args.input(1);
  pack_weights(cut.w, static_cast<std::byte*>(args.prepared), [&](int64_t row, int64_t tile, int64_t l, int64_t e) {
    const int64_t pair = cut.terms.first(tile) + l, c = pair % channel_pairs * 2 + e;
    if (row >= cut.outputs || c >= cut.channels || cut.terms.is_again(tile, l)) return 0.0f;
    const int64_t term = c * cut.pixels + pair / channel_pairs;
    return gemm.alpha * b[gemm.transpose_b ? row * terms + term : term * cut.outputs + row];
  });
}

/// Sums of all rows. The tiles' offsets, and what is added to each output, follow them.
int64_t workspace_floats(const Cut& cut) { return checked_mul(cut.pieces.blocks(), cut.block_floats()); }

size_t workspace_bytes(const Step& step, Math math) {
  const Cut cut = cut_of(step, math, 1);
  return static_cast<size_t>(checked_add(checked_mul(checked_add(workspace_floats(cut), cut.outputs), sizeof(float)),
                                         checked_mul(cut.terms.tiles, sizeof(int64_t))));
}

class Launch {
 public:
  Launch(const Args& args, Math math, Bf16Unit unit, int threads)
      : args_(args), unit_(unit), cut_(cut_of(args.step, math, threads)) {
    cut_.w.data = static_cast<const std::byte*>(args.prepared);
    sums_ = static_cast<float*>(args.workspace);
    offsets_ = reinterpret_cast<int64_t*>(sums_ + workspace_floats(cut_));
    for (int64_t i = 0; i < cut_.terms.tiles; ++i) offsets_[i] = cut_.terms.first(i) * kPairBytes;
    const bool same_for_all = args.inputs.size() > 2 && element_count(args.step.inputs[2].shape) == 1;
    auto* const bias = reinterpret_cast<float*>(offsets_ + cut_.terms.tiles);
    quiet_bias(args.inputs.size() > 2 && !same_for_all ? args.input(2) : nullptr, cut_.outputs, bias);
    if (same_for_all)
      std::for_each(bias, bias + cut_.outputs, [&](float& each) { quiet_bias(args.input(2), 1, &each); });
    bias_ = bias;
  }

  int64_t pieces() const { return cut_.pieces.count(); }

  void compute(int64_t piece, int) const {
    const auto [block, blocks, two, twos_end] = cut_.pieces[piece];
    const int64_t first = 2 * two, end = std::min(2 * twos_end, cut_.w.row_tiles);
    const int64_t parts = cut_.split ? 2 : 1;
    float* const sums = sums_ + block * cut_.block_floats();
    PairDense job{.w = cut_.w,
                  .first_row_tile = first,
                  .end_row_tile = end,
                  .x = args_.input<std::byte>(0) + block * cut_.plane() * parts,
                  .low_at = cut_.plane(),
                  .block_bytes = cut_.plane() * parts,
                  .blocks = blocks,
                  .offsets = offsets_,
                  .sums = sums,
                  .end = {.maps = cut_.outputs,
                          .bias = bias_,
                          .activation = args_.step.epilogue.activation,
                          .floats = sums,
                          .floats_step = cut_.block_floats(),
                          .map_step = kImageLanes}};
    if (args_.step.outputs[0].format.order != Order::nchw) {
      const int64_t plane = ceil_div(cut_.outputs, 2) * kPairBytes;
      job.end.pairs = args_.output<std::byte>() + block * plane * parts;
      job.end.pairs_step = plane * parts;
      job.end.low_at = cut_.split ? plane : 0;
      multiply_pairs(unit_, job);
      return;
    }
    multiply_pairs(unit_, job);
    const int64_t rows = cut_.w.shape.rows, begin = first * rows, count = std::min(end * rows, cut_.outputs) - begin;
    for (int64_t i = block; i < block + blocks; ++i) {
      from_lanes(sums_ + i * cut_.block_floats() + begin * kImageLanes, count,
                 args_.output() + i * kImageLanes * cut_.outputs + begin, cut_.outputs, cut_.n - i * kImageLanes);
    }
  }

 private:
  const Args& args_;
  Bf16Unit unit_;
  Cut cut_;
  float* sums_;  ///< [block][row][16]
  int64_t* offsets_;
  const float* bias_ = nullptr;
};

template <Math kMath, Bf16Unit kUnit>
Kernel dense_kernel(std::string_view name, std::string_view idea, std::string_view after = "") {
  return {
      .info = {.name = name,
               .device = DeviceKind::cpu,
               .family = Family::dense,
               .math = kMath,
               .idea = idea,
               .after = after},
      .refuses = [](const Step& step, const DeviceCaps&) { return refuse(step, kMath, kUnit); },
      .prepared_bytes = [](const Step& step,
                           const DeviceCaps&) { return static_cast<size_t>(cut_of(step, kMath, 1).w.bytes()); },
      .workspace_bytes = [](const Step& step, const DeviceCaps&) { return workspace_bytes(step, kMath); },
      .prepare = [](const Args& args, Stream&) { prepare(args, kMath); },
      .launch = [](const Args& args,
                   Stream& stream) { compute_pieces(Launch(args, kMath, kUnit, stream.threads()->size()), stream); },
      .format = pairs_layout(kMath),
      .packs_weights = true,
      .fuses_activation = true,
  };
}

const RegisterKernel amx_bf16{dense_kernel<Math::bf16, Bf16Unit::amx>(
    "cpu.nchw16n2c_dense_amx_bf16", "dense layer of nchw16n2c images by AMX tiles, in bf16")};
const RegisterKernel amx_bf16x2{dense_kernel<Math::bf16x2, Bf16Unit::amx>(
    "cpu.nchw16n2c_dense_amx_bf16x2", "the same with operands split in two bf16: three products",
    "cpu.nchw16n2c_dense_amx_bf16")};
const RegisterKernel avx512_bf16{dense_kernel<Math::bf16, Bf16Unit::avx512_bf16>(
    "cpu.nchw16n2c_dense_avx512_bf16", "dense layer of nchw16n2c images by VDPBF16PS, in bf16")};
const RegisterKernel avx512_bf16x2{dense_kernel<Math::bf16x2, Bf16Unit::avx512_bf16>(
    "cpu.nchw16n2c_dense_avx512_bf16x2", "the same with operands split in two bf16: three products",
    "cpu.nchw16n2c_dense_avx512_bf16")};
const RegisterKernel pairs_bf16{dense_kernel<Math::bf16, Bf16Unit::vectors>(
    "cpu.nchw16n2c_dense_bf16", "dense layer of nchw16n2c images in bf16, on any processor")};
const RegisterKernel pairs_bf16x2{dense_kernel<Math::bf16x2, Bf16Unit::vectors>(
    "cpu.nchw16n2c_dense_bf16x2", "the same with operands split in two bf16: three products",
    "cpu.nchw16n2c_dense_bf16")};

}  // namespace
}  // namespace convlab::cpu_nchw16n2c_dense
