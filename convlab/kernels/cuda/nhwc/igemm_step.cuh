#pragma once

// Host side of igemm.cuh: tile selection, workspace sizes and launches.

#include <algorithm>

#include "convlab/kernels/cuda/nhwc/igemm.cuh"
#include "convlab/kernels/cuda/nhwc/igemm_redo.cuh"
#include "convlab/kernels/cuda/nhwc/igemm_weights.cuh"
#include "convlab/kernels/kernel.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

/// How a problem is tiled, and how K is split.
struct IgemmPlan {
  enum class Kind { wide, narrow, slim, small };
  Kind kind = Kind::wide;
  int tile_rows = 0, tile_maps = 0;
  int64_t row_tiles = 0, tiles = 0;  ///< `tiles` counts all groups
  IgemmCut cut{};
  int64_t sums = 0;  ///< all pixels by all output channels

  size_t parts_bytes() const {
    return cut.parts == 1 ? 0 : static_cast<size_t>(checked_product({round_up(sums, 16), cut.parts, sizeof(float)}));
  }
};

template <class Terms>
IgemmPlan make_igemm_plan(const ConvShape& shape, int groups, const DeviceCaps& caps) {
  using Kind = IgemmPlan::Kind;
  const int64_t rows = int64_t{shape.n} * shape.p * shape.q;
  const int64_t processors = std::max<int64_t>(caps.multiprocessors, 1);
  const auto tiles = [&](int tile_rows, int tile_maps) {
    return ceil_div(rows, tile_rows) * ceil_div(shape.maps, tile_maps) * groups;
  };
  IgemmPlan plan;
  plan.kind = shape.maps <= 32                                       ? Kind::slim
              : shape.maps > 64 && tiles(128, 128) >= 2 * processors ? Kind::wide
                                                                     : Kind::narrow;
  if (Terms::kScales && plan.kind == Kind::wide) plan.kind = Kind::narrow;  // the sums of one slice need registers, too
  if (tiles(128, 64) < processors) plan.kind = Kind::small;
  plan.tile_rows = plan.kind == Kind::small ? 64 : 128;
  plan.tile_maps = plan.kind == Kind::wide ? 128 : plan.kind == Kind::slim ? 32 : 64;
  plan.row_tiles = ceil_div(rows, plan.tile_rows);
  plan.tiles = tiles(plan.tile_rows, plan.tile_maps);
  plan.cut.map_tiles = static_cast<int>(ceil_div(shape.maps, plan.tile_maps));
  plan.cut.slices = static_cast<int>(ceil_div(int64_t{shape.r} * shape.s * shape.channels, Terms::kSlice));
  // A split-K part has at least a few slices: adding shorter parts costs more than they save.
  constexpr int64_t kLeastSlices = 4, kMostParts = 32;
  const int64_t wanted = ceil_div(2 * processors, plan.tiles),
                most = std::min(kMostParts, plan.cut.slices / kLeastSlices);
  plan.cut.parts = plan.kind == Kind::small ? static_cast<int>(std::clamp<int64_t>(most, 1, wanted)) : 1;
  plan.sums = checked_mul(rows, shape.k);
  return plan;
}

/// Returns the bytes of the workspace: split-K parts and tile marks.
template <class Terms>
size_t igemm_workspace(const IgemmPlan& plan) {
  return plan.parts_bytes() + (Terms::kScales ? static_cast<size_t>(plan.tiles) * sizeof(uint32_t) : 0);
}

template <class Tile, class Terms>
void launch_tiles(const PixelConvOf<typename Terms::Element>& conv, const IgemmPlan& plan, const IgemmExtra& extra,
                  Stream& stream) {
  launch(convolve_igemm<Tile, Terms>,
         {.grid = {plan.row_tiles * plan.cut.map_tiles, plan.cut.parts, conv.groups},
          .block = Tile::kThreads,
          .shared_bytes = Tile::kBytes},
         stream.native(), conv, plan.cut, extra);
}

/// conv.w: filters packed by pack_igemm_weights(). `workspace`: igemm_workspace() bytes.
template <class Terms>
void launch_igemm(const PixelConvOf<typename Terms::Element>& conv, const IgemmPlan& plan, void* workspace,
                  Stream& stream) {
  using Kind = IgemmPlan::Kind;
  IgemmExtra extra{.parts = static_cast<float*>(workspace)};
  if constexpr (Terms::kScales) {
    extra.undo = igemm_undo<Terms>(conv.w, conv.shape.k, plan.cut.slices);
    extra.marks = reinterpret_cast<uint32_t*>(static_cast<unsigned char*>(workspace) + plan.parts_bytes());
    fill_bytes(extra.marks, 0, static_cast<size_t>(plan.tiles) * sizeof(uint32_t), stream.native());
  }
  if constexpr (!Terms::kScales) {
    if (plan.kind == Kind::wide) launch_tiles<IgemmTile<128, 128, 2, 4>, Terms>(conv, plan, extra, stream);
  }
  if (plan.kind == Kind::narrow) launch_tiles<IgemmTile<128, 64, 4, 2>, Terms>(conv, plan, extra, stream);
  if (plan.kind == Kind::slim) launch_tiles<IgemmTile<128, 32, 8, 1>, Terms>(conv, plan, extra, stream);
  if (plan.kind == Kind::small) launch_tiles<IgemmTile<64, 64, 2, 2>, Terms>(conv, plan, extra, stream);
  if (plan.cut.parts > 1) {
    const ConvShape& shape = conv.shape;
    const int64_t chunks = int64_t{shape.n} * shape.p * shape.q * ceil_div(shape.k, 8);
    launch(add_igemm_parts<typename Terms::Element>, {.grid = ceil_div(chunks, 256), .block = 256}, stream.native(),
           conv, static_cast<const float*>(extra.parts), plan.cut.parts);
  }
  if constexpr (Terms::kScales) {
    launch(redo_marked_tiles<Terms>,
           {.grid = {plan.row_tiles * plan.cut.map_tiles, 1, conv.groups}, .block = kRedoThreads}, stream.native(),
           conv, plan.cut, plan.tile_rows, plan.tile_maps, static_cast<const uint32_t*>(extra.marks), extra.undo);
  }
}

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
