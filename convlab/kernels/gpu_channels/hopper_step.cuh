#pragma once

// A step by hopper_conv.cuh: how filters are packed, the tile that fits, and the launch.

#ifdef __CUDACC__

#include <algorithm>
#include <limits>

#include "convlab/base/checked.h"
#include "convlab/kernels/gpu_channels/hopper_conv.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernel

/// Filters of `given` channels as a matrix of maps by plan.slices * 64 terms; terms that do not exist are zeros.
static __global__ void __launch_bounds__(256)
    pack_pixel_filters(const float* __restrict__ w, __half* __restrict__ packed, int box, int slices, int period,
                       int given, ConvShape shape) {
  const int64_t i = int64_t{blockIdx.x} * 256 + threadIdx.x, terms = int64_t{slices} * kSliceTerms;
  if (i >= terms * shape.k) return;
  const int64_t map = i / terms, term = i % terms, of_tap = box == kSliceTerms ? period * kSliceTerms : box;
  const int64_t tap = term / of_tap, channel = term % of_tap, taps = int64_t{shape.r} * shape.s;
  const bool exists = tap < taps && channel < given;
  packed[i] = __float2half_rn(exists ? w[(map * given + channel) * taps + tap] : 0.0f);
}

}  // namespace

/// Where the terms of a sum lie: see PixelPlan. The same for any number of images.
inline PixelPlan plan_terms(const PixelConv& conv) {
  const ConvShape& shape = conv.shape;
  PixelPlan plan{.conv = conv};
  plan.matrix = shape.r == 1 && shape.s == 1 && shape.stride_h == 1 && shape.stride_w == 1 && shape.p == shape.h &&
                shape.q == shape.w && shape.pad_top == 0 && shape.pad_left == 0;
  plan.box = shape.channels <= 16 ? 16 : shape.channels <= 32 ? 32 : kSliceTerms;
  const int taps = shape.r * shape.s, steps_of_box = plan.box / 16;
  if (plan.box == kSliceTerms) {
    plan.period = static_cast<int>(ceil_div(shape.channels, kSliceTerms));
    plan.slices = taps * plan.period;
    plan.last_steps = static_cast<int>(ceil_div(shape.channels - (plan.period - 1) * kSliceTerms, 16));
  } else {
    const int taps_of_slice = 4 / steps_of_box;
    plan.period = plan.slices = static_cast<int>(ceil_div(taps, taps_of_slice));
    plan.last_steps = (taps - (plan.slices - 1) * taps_of_slice) * steps_of_box;
  }
  return plan;
}

template <class Tile, int kChannels>
void launch_pixels(PixelPlan plan, int64_t multiprocessors, void* stream) {
  const PixelConv& conv = plan.conv;
  const ConvShape& shape = conv.shape;
  const int64_t rows = int64_t{shape.n} * shape.p * shape.q, terms = int64_t{plan.slices} * kSliceTerms;
  plan.map_tiles = static_cast<int>(ceil_div(shape.k, Tile::kMaps));
  plan.tiles = static_cast<int>(ceil_div(rows, Tile::kRows) * plan.map_tiles);
  const CUtensorMap x = plan.matrix ? describe_rows(conv.x, rows, shape.channels, conv.x_step, kChannels, Tile::kRows)
                                    : describe_pixels(conv, kChannels, Tile::kRows);
  const CUtensorMap w = describe_rows(conv.w, shape.k, terms, terms, kSliceTerms, Tile::kMaps);
  const CUtensorMap y = describe_rows(conv.y, rows, shape.k, conv.y_step, Tile::kBoxMaps, 16);
  const CUtensorMap added =
      conv.added == nullptr ? y : describe_rows(conv.added, rows, shape.k, conv.added_step, Tile::kBoxMaps, 16);
  const int64_t clusters = Tile::kParts > 1 ? plan.tiles : std::min<int64_t>(plan.tiles, multiprocessors);
  launch(convolve_pixels<Tile, kChannels>,
         {.grid = clusters * Tile::kParts, .block = Tile::kThreads, .shared_bytes = Tile::kBytes, .early = true},
         stream, x, w, added, y, plan);
}

/// A kind of tile, and what it was seen to take on an H100, in hundredths of a microsecond: the launch, a tile beside its
/// slices, a slice.
template <class Tile_, int kLaunch, int kTile, int kSlice>
struct TimedTile {
  using Tile = Tile_;

  /// Clusters of four or eight blocks find no place on some multiprocessors.
  static int64_t clusters_at_once(int64_t multiprocessors) {
    const int64_t whole = multiprocessors / Tile::kParts;
    return std::max<int64_t>(Tile::kParts > 2 ? whole * 7 / 8 : whole, 1);
  }
  static double time(const PixelPlan& plan, int64_t multiprocessors) {
    const ConvShape& shape = plan.conv.shape;
    const int64_t rows = int64_t{shape.n} * shape.p * shape.q;
    const int64_t tiles = ceil_div(rows, Tile::kRows) * ceil_div(shape.k, Tile::kMaps);
    const double slices = static_cast<double>(ceil_div(plan.slices, Tile::kParts));
    return kLaunch * 0.01 + static_cast<double>(ceil_div(tiles, clusters_at_once(multiprocessors))) *
                                (kTile * 0.01 + slices * kSlice * 0.01);
  }
};

using WidePixels = TimedTile<HopperTile<128, 256, 2, 1, 4, 2>, 300, 200, 65>;
using TallPixels = TimedTile<HopperTile<256, 128, 2, 1, 4, 2>, 300, 260, 65>;
using SquarePixels = TimedTile<HopperTile<128, 128, 2, 1, 6, 2>, 300, 130, 35>;
using PairedPixels = TimedTile<HopperTile<128, 128, 1, 2, 6, 2>, 430, 30, 49>;
using NarrowPixels = TimedTile<HopperTile<128, 64, 1, 2, 8, 2>, 370, 30, 38>;
using LongPixels = TimedTile<HopperTile<256, 64, 1, 2, 4, 4>, 430, 80, 72>;
using SlimPixels = TimedTile<HopperTile<128, 32, 1, 2, 8, 2>, 370, 30, 33>;
using SmallPixels = TimedTile<HopperTile<64, 64, 1, 1, 8, 1>, 170, 60, 21>;
using QuarteredPixels = TimedTile<HopperTile<64, 64, 1, 1, 8, 1, 4>, 530, 60, 20>;
using EighthPixels = TimedTile<HopperTile<64, 64, 1, 1, 8, 1, 8>, 530, 60, 21>;

/// Calls `with.template operator()<a TimedTile>()` for the quickest of those given that can cut a sum in its parts.
template <class... Timed>
void with_quickest(const PixelPlan& plan, int64_t multiprocessors, auto&& with) {
  double least = std::numeric_limits<double>::infinity();
  const auto time_of = [&]<class Each>() {
    return plan.slices < Each::Tile::kParts ? std::numeric_limits<double>::infinity()
                                            : Each::time(plan, multiprocessors);
  };
  ((least = std::min(least, time_of.template operator()<Timed>())), ...);
  bool done = false;
  const auto take = [&]<class Each>() {
    if (done || time_of.template operator()<Each>() > least) return;
    done = true;
    with.template operator()<Each>();
  };
  (take.template operator()<Timed>(), ...);
}

/// conv.w is what pack_pixel_filters has packed.
inline void launch_hopper_conv(const PixelConv& conv, int64_t multiprocessors, void* stream) {
  const PixelPlan plan = plan_terms(conv);
  if (plan.box == kSliceTerms) {
    const auto with = [&]<class Timed>() { launch_pixels<typename Timed::Tile, 64>(plan, multiprocessors, stream); };
    return with_quickest<WidePixels, TallPixels, SquarePixels, PairedPixels, NarrowPixels, LongPixels, SlimPixels,
                         SmallPixels, QuarteredPixels, EighthPixels>(plan, multiprocessors, with);
  }
  const auto with = [&]<class Timed>() {
    if (plan.box == 32) return launch_pixels<typename Timed::Tile, 32>(plan, multiprocessors, stream);
    launch_pixels<typename Timed::Tile, 16>(plan, multiprocessors, stream);
  };
  with_quickest<NarrowPixels, SlimPixels>(plan, multiprocessors, with);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
