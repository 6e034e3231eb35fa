#pragma once

// The producer warp of hopper_conv.cuh, which issues all operand copies.

#ifdef __CUDACC__

#include "convlab/kernels/cuda/nhwc/hopper_tile.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// A position in the K dimension: filter row, filter column and channel.
struct TermPlace {
  int row, column, channel;

  template <class Element>
  __device__ TermPlace(const PixelPlan<Element>& plan, int slice) {
    const int tap = plan.taps == 1 ? slice / plan.period : slice * plan.taps;
    row = tap / plan.conv.shape.s;
    column = tap % plan.conv.shape.s;
    channel = plan.taps == 1 ? slice % plan.period * kSliceTerms<Element> : 0;
  }
  __device__ void next_tap(const ConvShape& shape) {
    channel = 0;
    if (++column < shape.s) return;
    column = 0;
    ++row;
  }
};

/// The pixel that a filter's first tap visits for output pixel `row`.
struct PixelPlace {
  int image, top, left;

  __device__ PixelPlace(const ConvShape& shape, int row) {
    const int plane = shape.p * shape.q;
    image = row / plane;
    const int rest = row - image * plane;
    top = rest / shape.q * shape.stride_h - shape.pad_top;
    left = rest % shape.q * shape.stride_w - shape.pad_left;
  }
};

template <class Tile, int kTaps>
__device__ void copy_operands(const PixelShared<Tile>& shared, const CUtensorMap& x, const CUtensorMap& w,
                              const PixelPlan<typename Tile::Element>& plan, int rank) {
  constexpr int kTerms = kSliceTerms<typename Tile::Element>, kFilterParts = Tile::Terms::kFilterParts;
  const ConvShape& shape = plan.conv.shape;
  const PartOfSlices<Tile> part(plan, rank);
  const auto* const filters = static_cast<const unsigned char*>(plan.conv.w);
  const int64_t filter_maps = HopperSplitHalves::maps_there(shape.k);
  PixelTurn<Tile::kStages> turn;
  for (int tile = blockIdx.x / Tile::kParts; tile < plan.tiles; tile += gridDim.x / Tile::kParts) {
    const TilePlace<Tile> place(plan, tile);
    const PixelPlace pixel(shape, place.row);
    TermPlace term(plan, part.first);
    const auto fetch = [&](SharedAddress to, uint64_t* full) {
      if (plan.matrix) return fetch_rows(to, x, term.channel, place.row, full);
      fetch_pixels(to, x, term.channel, pixel.left, pixel.top, pixel.image, term.column * shape.dilation_w,
                   term.row * shape.dilation_h, full);
    };
    for (int slice = part.first; slice < part.last; ++slice) {
      barrier_wait(shared.empty + turn.stage, turn.parity ^ 1);
      uint64_t* const full = shared.full + turn.stage;
      const SharedAddress a = shared.a(turn.stage);
      if constexpr (kTaps == 1) {
        if (elected()) {
          barrier_arrive_expecting(full, Tile::kStage);
          fetch(a, full);
        }
        term.channel += kTerms;
        if (term.channel >= shape.channels) term.next_tap(shape);
      } else {
        constexpr int kTap = Tile::kA / kTaps;
        const int left = shape.r * shape.s - slice * kTaps, taps = left < kTaps ? left : kTaps;
        if (elected()) barrier_arrive_expecting(full, Tile::kB + taps * kTap);
        for (int tap = 0; tap < taps; ++tap, term.next_tap(shape)) {
          if (elected()) fetch(a + tap * kTap, full);
        }
      }
      if (elected()) {
#pragma unroll
        for (int i = 0; i < kFilterParts; ++i) {
          const SharedAddress b = shared.b(turn.stage) + i * Tile::kMapBytes;
          const int part = kFilterParts * slice + i;
          if constexpr (Tile::Terms::kScales) {
            fetch_bulk(b, filters + (part * filter_maps + place.map) * Tile::Terms::kFilterRow, Tile::kMapBytes, full);
          } else {
            fetch_rows(b, w, part * kTerms, place.map, full);
          }
        }
      }
      turn.next();
    }
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
