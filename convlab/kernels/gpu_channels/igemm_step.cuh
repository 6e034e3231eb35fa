#pragma once

// A step by igemm.cuh: the tile that fits, what is prepared, and the launches.

#include <array>

#include "convlab/kernels/gpu_channels/igemm.cuh"
#include "convlab/kernels/kernel.h"

namespace convlab {
namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

using WideTile = IgemmTile<128, 128, 2, 4>;
using NarrowTile = IgemmTile<128, 64, 4, 2>;
using SlimTile = IgemmTile<128, 32, 8, 1>;
using SmallTile = IgemmTile<64, 64, 2, 2>;

/// How the work on a problem is divided: into tiles of some kind, and each tile's sums into parts.
struct IgemmPlan {
  enum class Kind { wide, narrow, slim, small };
  Kind kind = Kind::wide;
  int64_t row_tiles = 0;
  IgemmCut cut{};

  size_t parts_bytes(const PixelConv& conv) const {
    const ConvShape& shape = conv.shape;
    const int64_t sums = checked_mul(checked_mul(shape.n, int64_t{shape.p} * shape.q), shape.k);
    return cut.parts == 1 ? 0 : static_cast<size_t>(checked_mul(checked_mul(sums, cut.parts), sizeof(float)));
  }
};

IgemmPlan make_igemm_plan(const PixelConv& conv, const DeviceCaps& caps) {
  const ConvShape& shape = conv.shape;
  const int64_t rows = int64_t{shape.n} * shape.p * shape.q;
  const int64_t processors = std::max<int64_t>(caps.multiprocessors, 1);
  const auto tiles = [&](int tile_rows, int tile_maps) {
    return ceil_div(rows, tile_rows) * ceil_div(shape.maps, tile_maps) * conv.groups;
  };
  IgemmPlan plan;
  plan.kind = shape.maps <= 32                         ? IgemmPlan::Kind::slim
              : shape.maps <= 64                       ? IgemmPlan::Kind::narrow
              : tiles(128, 128) >= 2 * processors      ? IgemmPlan::Kind::wide
                                                       : IgemmPlan::Kind::narrow;
  if (tiles(128, 64) < processors) plan.kind = IgemmPlan::Kind::small;
  const int tile_rows = plan.kind == IgemmPlan::Kind::small ? 64 : 128;
  const int tile_maps = plan.kind == IgemmPlan::Kind::wide ? 128 : plan.kind == IgemmPlan::Kind::slim ? 32 : 64;
  plan.row_tiles = ceil_div(rows, tile_rows);
  plan.cut.map_tiles = static_cast<int>(ceil_div(shape.maps, tile_maps));
  plan.cut.slices = static_cast<int>(ceil_div(int64_t{shape.r} * shape.s * shape.channels, kIgemmChunks * 8));
  // A part is a few slices at least: fewer cost more to add up than they save.
  constexpr int64_t kLeastSlices = 4, kMostParts = 32;
  const int64_t wanted = ceil_div(2 * processors, tiles(tile_rows, tile_maps));
  const int64_t most = std::min(kMostParts, plan.cut.slices / kLeastSlices);
  plan.cut.parts = plan.kind == IgemmPlan::Kind::small ? static_cast<int>(std::clamp<int64_t>(most, 1, wanted)) : 1;
  return plan;
}

template <class Tile>
void launch_tiles(const PixelConv& conv, const IgemmPlan& plan, float* parts, Stream& stream) {
  launch(convolve_igemm<Tile>,
         {.grid = {plan.row_tiles * plan.cut.map_tiles, plan.cut.parts, conv.groups},
          .block = Tile::kThreads,
          .shared_bytes = Tile::kBytes},
         stream.native(), conv, plan.cut, parts);
}

/// `parts`: plan.parts_bytes() of memory.
void launch_igemm(const PixelConv& conv, const IgemmPlan& plan, float* parts, Stream& stream) {
  switch (plan.kind) {
    case IgemmPlan::Kind::wide:
      launch_tiles<WideTile>(conv, plan, parts, stream);
      break;
    case IgemmPlan::Kind::narrow:
      launch_tiles<NarrowTile>(conv, plan, parts, stream);
      break;
    case IgemmPlan::Kind::slim:
      launch_tiles<SlimTile>(conv, plan, parts, stream);
      break;
    case IgemmPlan::Kind::small:
      launch_tiles<SmallTile>(conv, plan, parts, stream);
      break;
  }
  if (plan.cut.parts == 1) return;
  const ConvShape& shape = conv.shape;
  const int64_t chunks = int64_t{shape.n} * shape.p * shape.q * ceil_div(shape.k, 8);
  launch(add_igemm_parts, {.grid = ceil_div(chunks, 256), .block = 256}, stream.native(), conv,
         static_cast<const float*>(parts), plan.cut.parts);
}

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
