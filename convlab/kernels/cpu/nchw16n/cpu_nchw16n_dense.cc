// cpu.nchw16n_dense: alpha * A * B' + C with fused activation, for 16 images in the lanes (nchw16n); B is constant and
// packed once.
//
// An element of A is a pixel in the sense of cpu/lanes.h: 16 images wide. The kernel reads a convolution's output in
// place. A work item is some blocks of 16 images, at most 528 images, times some tiles of outputs. It sums 128 along K
// at a time. For this range of K, three blocks of A, 24 KiB, stay in L1 while all weights stream from L2, 4 KiB per
// tile of 8 outputs. The weights stay in L2 for the next three blocks, which are meanwhile prefetched from memory. The
// order of all sums is that of cpu.dense (see cpu/gemm/gemm.h), so that both give the same bits.

#include <algorithm>
#include <array>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/gemm/gemm.h"
#include "convlab/kernels/cpu/nchw16n/lane_dense.h"
#include "convlab/kernels/cpu/simd/lanes.h"
#include "convlab/kernels/cpu/simd/pieces.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw16n_dense {
namespace {

constexpr int64_t kMostBlocks = 33;
constexpr int64_t kTileBlocks = 3;

/// How a step is partitioned into work items.
struct Cut : LaneDense {
  Cut(const Step& step, int threads)
      : LaneDense(step),
        tiles(ceil_div(outputs, most_lane_maps(false))),
        pieces(ceil_div(n, kImageLanes), tiles, kMostBlocks, threads) {}

  int64_t tiles;  ///< of outputs
  DensePieces pieces;

  int64_t first_output(int64_t tile) const { return outputs * tile / tiles; }
};

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_lane_dense(step, kNchw16n)) return refusal;
  if (checked_mul(step.inputs[0].shape[1], kImageLanes) > UINT32_MAX)
    return "an image must have fewer than 2^28 elements";
  return std::nullopt;
}

size_t prepared_bytes(const Step& step, const DeviceCaps&) {
  return static_cast<size_t>(checked_product({step.inputs[0].shape[1], step.outputs[0].shape[1], sizeof(float)}));
}

/// Packs weights: [range of kGemmDepth along K][tile of outputs][K index][output].
void prepare(const Args& args, Stream& stream) {
  const Cut cut(args.step, 1);
  const float* b = args.input(1);
  auto* const packed = static_cast<float*>(args.prepared);
  stream.threads()->parallel_for(ceil_div(cut.k, kGemmDepth), 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t first = part * kGemmDepth, depth = std::min(kGemmDepth, cut.k - first);
      float* to = packed + first * cut.outputs;
      for (int64_t tile = 0; tile < cut.tiles; ++tile) {
        for (int64_t k = first; k < first + depth; ++k) {
          for (int64_t j = cut.first_output(tile); j < cut.first_output(tile + 1); ++j) {
            *to++ = cut.weight(b, k, j);
          }
        }
      }
    }
  });
}

/// The table of K offsets; and the outputs in nchw16n, if the step needs the plain order.
size_t workspace_bytes(const Step& step, const DeviceCaps&) {
  const int64_t outputs =
      step.outputs[0].format.order == Order::nchw ? element_count(step.outputs[0].shape, kNchw16n) : 0;
  return static_cast<size_t>(checked_mul(checked_add(outputs, kGemmDepth), sizeof(float)));
}

class Launch {
 public:
  Launch(const Args& args, int threads) : args_(args), cut_(args.step, threads) {
    auto* const offsets = static_cast<uint32_t*>(args.workspace);
    for (uint32_t i = 0; i < kGemmDepth; ++i) offsets[i] = i * static_cast<uint32_t>(kImageLanes);
    offsets_ = offsets;
    const bool plain = args.step.outputs[0].format.order == Order::nchw;
    y_ = plain ? static_cast<float*>(args.workspace) + kGemmDepth : args.output();
    for (int64_t i = 0; i < kTileBlocks; ++i) x_at_[static_cast<size_t>(i)] = i * cut_.k * kImageLanes;
  }

  int64_t pieces() const { return cut_.pieces.count(); }

  void compute(int64_t piece, int) const {
    const auto [block, blocks, tile, tiles_end] = cut_.pieces[piece];
    float* const y = y_ + block * cut_.outputs * kImageLanes;
    for (int64_t first = 0; first < cut_.k; first += kGemmDepth) {
      const int64_t depth = std::min(kGemmDepth, cut_.k - first);
      for (int64_t b = 0; b < blocks; b += kTileBlocks) {
        // What to prefetch next: `fetched` blocks starting at block `next`, at K index `next_first`.
        const bool last = b + kTileBlocks >= blocks;
        const int64_t next = last ? 0 : b + kTileBlocks, next_first = last ? first + kGemmDepth : first;
        const int64_t fetched = next_first + depth <= cut_.k ? std::min(kTileBlocks, blocks - next) : 0;
        for (int64_t t = tile; t < tiles_end; ++t) {
          const int64_t j = cut_.first_output(t);
          sum_lanes({.x = pixels(block + b, first),
                     .x_at = x_at_.data(),
                     .pixels = std::min(kTileBlocks, blocks - b),
                     .offsets = offsets_,
                     .terms = depth,
                     .w = static_cast<const float*>(args_.prepared) + first * cut_.outputs + j * depth,
                     .ahead = t - tile < fetched ? pixels(block + next + t - tile, next_first) : nullptr,
                     .maps = static_cast<int>(cut_.first_output(t + 1) - j),
                     .y = y + b * cut_.outputs * kImageLanes + j * kImageLanes,
                     .map_step = kImageLanes,
                     .pixel_step = cut_.outputs * kImageLanes,
                     .add = first > 0});
        }
      }
    }
    const int64_t begin = cut_.first_output(tile), end = cut_.first_output(tiles_end);
    for (int64_t b = 0; b < blocks; ++b) finish_lane_dense(args_, y_, block + b, begin, end);
  }

 private:
  const float* pixels(int64_t block, int64_t term) const {
    return args_.input(0) + (block * cut_.k + term) * kImageLanes;
  }

  const Args& args_;
  Cut cut_;
  const uint32_t* offsets_;
  float* y_;  ///< nchw16n
  std::array<int64_t, kTileBlocks> x_at_{};
};

const RegisterKernel registered{{
    .info = {.name = "cpu.nchw16n_dense",
             .device = DeviceKind::cpu,
             .family = Family::dense,
             .idea = "dense layer of nchw16n images: 16 images per vector, read where the convolution wrote them"},
    .refuses = refuses,
    .prepared_bytes = prepared_bytes,
    .workspace_bytes = workspace_bytes,
    .prepare = prepare,
    .launch = launch_pieces<Launch>,
    .format = kNchw16n,
    .packs_weights = true,
    .fuses_activation = true,
}};

}  // namespace
}  // namespace convlab::cpu_nchw16n_dense
