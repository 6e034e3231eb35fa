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

/// Filters of `given` channels as a matrix of maps by plan.slices slices; terms that do not exist are zeros. Of split
/// terms a slice's rests follow it.
template <class Terms>
__global__ void __launch_bounds__(256)
    pack_pixel_filters(const float* __restrict__ w, typename Terms::Element* __restrict__ packed, int taps_of_slice,
                       int slices, int period, int given, ConvShape shape) {
  constexpr int kTerms = kSliceTerms<typename Terms::Element>;
  const int64_t i = int64_t{blockIdx.x} * 256 + threadIdx.x, terms = int64_t{slices} * kTerms;
  if (i >= terms * shape.k) return;
  const int64_t map = i / terms, term = i % terms;
  const int64_t of_tap = taps_of_slice == 1 ? period * kTerms : kTerms / taps_of_slice;
  const int64_t tap = term / of_tap, channel = term % of_tap, taps = int64_t{shape.r} * shape.s;
  const bool exists = tap < taps && channel < given;
  const float value = exists ? w[(map * given + channel) * taps + tap] : 0.0f;
  if constexpr (Terms::kSplit) {
    const SplitTf32 split(value);
    float* const to = packed + 2 * i - term % kTerms;
    to[0] = __uint_as_float(split.large);
    to[kTerms] = __uint_as_float(split.rest);
  } else if constexpr (kIsHalf<typename Terms::Element>) {
    packed[i] = __float2half_rn(value);
  } else {
    packed[i] = __uint_as_float(to_tf32(value));
  }
}

}  // namespace

/// Where the terms of a sum lie: see PixelPlan. The same for any number of images.
template <class Terms>
PixelPlan<typename Terms::Element> plan_terms(const PixelConvOf<typename Terms::Element>& conv) {
  constexpr int kTerms = kSliceTerms<typename Terms::Element>, kStep = kStepTerms<typename Terms::Element>;
  const ConvShape& shape = conv.shape;
  PixelPlan<typename Terms::Element> plan{.conv = conv};
  plan.matrix = shape.r == 1 && shape.s == 1 && shape.stride_h == 1 && shape.stride_w == 1 && shape.p == shape.h &&
                shape.q == shape.w && shape.pad_top == 0 && shape.pad_left == 0;
  plan.taps = Terms::kSplit || shape.channels > kTerms / 2 ? 1 : shape.channels > kTerms / 4 ? 2 : 4;
  const int taps = shape.r * shape.s;
  if (plan.taps == 1) {
    plan.period = static_cast<int>(ceil_div(shape.channels, kTerms));
    plan.slices = taps * plan.period;
    plan.last_steps = static_cast<int>(ceil_div(shape.channels - (plan.period - 1) * kTerms, kStep));
  } else {
    plan.period = plan.slices = static_cast<int>(ceil_div(taps, plan.taps));
    plan.last_steps = (taps - (plan.slices - 1) * plan.taps) * (4 / plan.taps);
  }
  return plan;
}

/// Elements of a map's packed filters.
template <class Terms>
int64_t packed_terms(const PixelPlan<typename Terms::Element>& plan) {
  return int64_t{plan.slices} * kSliceTerms<typename Terms::Element> * (Terms::kSplit ? 2 : 1);
}

/// `to`: shape.k times packed_terms() elements, from filters of `given` channels.
template <class Terms>
void pack_filters(const PixelPlan<typename Terms::Element>& plan, const float* w, int given,
                  typename Terms::Element* to, void* stream) {
  const ConvShape& shape = plan.conv.shape;
  const int64_t terms = int64_t{shape.k} * plan.slices * kSliceTerms<typename Terms::Element>;
  launch(pack_pixel_filters<Terms>, {.grid = ceil_div(terms, 256), .block = 256}, stream, w, to, plan.taps, plan.slices,
         plan.period, given, shape);
}

template <class Tile, int kTaps>
void launch_pixels(PixelPlan<typename Tile::Element> plan, int64_t multiprocessors, void* stream) {
  using Terms = typename Tile::Terms;
  using Element = typename Tile::Element;
  constexpr int kTerms = kSliceTerms<Element>;
  constexpr CUtensorMapDataType kType = kCopiedType<Element>;
  const PixelConvOf<Element>& conv = plan.conv;
  const ConvShape& shape = conv.shape;
  const int64_t rows = int64_t{shape.n} * shape.p * shape.q, terms = packed_terms<Terms>(plan);
  plan.map_tiles = static_cast<int>(ceil_div(shape.k, Tile::kMaps));
  plan.tiles = static_cast<int>(ceil_div(rows, Tile::kRows) * plan.map_tiles);
  const CUtensorMap x = plan.matrix ? describe_rows(kTermType<Terms>, conv.x, rows, shape.channels, conv.x_step,
                                                    kTerms / kTaps, Tile::kRows)
                                    : describe_pixels(kTermType<Terms>, conv, kTerms / kTaps, Tile::kRows);
  const CUtensorMap w =
      describe_rows(kType, static_cast<const Element*>(conv.w), shape.k, terms, terms, kTerms, Tile::kMaps);
  const CUtensorMap y = describe_rows<Element>(kType, conv.y, rows, shape.k, conv.y_step, Tile::kBoxMaps, 16);
  const CUtensorMap added =
      conv.added == nullptr ? y : describe_rows(kType, conv.added, rows, shape.k, conv.added_step, Tile::kBoxMaps, 16);
  const int64_t clusters = Tile::kParts > 1 ? plan.tiles : std::min<int64_t>(plan.tiles, multiprocessors);
  launch(convolve_pixels<Tile, kTaps>,
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
  static double time(const PixelPlan<typename Tile::Element>& plan, int64_t multiprocessors) {
    const ConvShape& shape = plan.conv.shape;
    const int64_t rows = int64_t{shape.n} * shape.p * shape.q;
    const int64_t tiles = ceil_div(rows, Tile::kRows) * ceil_div(shape.k, Tile::kMaps);
    const double slices = static_cast<double>(ceil_div(plan.slices, Tile::kParts));
    return kLaunch * 0.01 + static_cast<double>(ceil_div(tiles, clusters_at_once(multiprocessors))) *
                                (kTile * 0.01 + slices * kSlice * 0.01);
  }
};

template <class Terms>
struct PixelTiles {
  using Wide = TimedTile<HopperTile<Terms, 128, 256, 2, 1, 4, 2>, 300, 200, 65>;
  using Tall = TimedTile<HopperTile<Terms, 256, 128, 2, 1, 4, 2>, 300, 260, 65>;
  using Square = TimedTile<HopperTile<Terms, 128, 128, 2, 1, 6, 2>, 300, 130, 35>;
  using Paired = TimedTile<HopperTile<Terms, 128, 128, 1, 2, 6, 2>, 430, 30, 49>;
  using Narrow = TimedTile<HopperTile<Terms, 128, 64, 1, 2, 8, 2>, 370, 30, 38>;
  using Long = TimedTile<HopperTile<Terms, 256, 64, 1, 2, 4, 4>, 430, 80, 72>;
  using Slim = TimedTile<HopperTile<Terms, 128, 32, 1, 2, 8, 2>, 370, 30, 33>;
  using Small = TimedTile<HopperTile<Terms, 64, 64, 1, 1, 8, 1>, 170, 60, 23>;
  using SquareFourths = TimedTile<HopperTile<Terms, 128, 128, 2, 1, 6, 2, 4>, 90, 800, 35>;
  using SquareEighths = TimedTile<HopperTile<Terms, 128, 128, 2, 1, 6, 2, 8>, 90, 780, 35>;
  using SmallFourths = TimedTile<HopperTile<Terms, 64, 64, 1, 1, 8, 1, 4>, 90, 400, 20>;
  using SmallEighths = TimedTile<HopperTile<Terms, 64, 64, 1, 1, 8, 1, 8>, 90, 430, 21>;
};

/// Of split terms, three products take three times as long, and a stage is larger.
template <>
struct PixelTiles<HopperSplit> {
  using Square = TimedTile<HopperTile<HopperSplit, 128, 128, 2, 1, 4, 2>, 300, 160, 115>;
  using Paired = TimedTile<HopperTile<HopperSplit, 64, 128, 1, 2, 4, 2>, 430, 60, 75>;
  using Narrow = TimedTile<HopperTile<HopperSplit, 128, 64, 2, 1, 6, 2>, 300, 110, 65>;
  using Few = TimedTile<HopperTile<HopperSplit, 64, 64, 1, 2, 6, 2>, 370, 45, 45>;
  using Slim = TimedTile<HopperTile<HopperSplit, 128, 32, 2, 1, 6, 1>, 300, 80, 42>;
  using Small = TimedTile<HopperTile<HopperSplit, 64, 64, 1, 1, 6, 1>, 170, 60, 50>;
  using SmallFourths = TimedTile<HopperTile<HopperSplit, 64, 64, 1, 1, 6, 1, 4>, 90, 400, 50>;
};

/// Calls `with.template operator()<a TimedTile>()` for the quickest of those given that can cut a sum in its parts.
template <class... Timed>
void with_quickest(const auto& plan, int64_t multiprocessors, auto&& with) {
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
template <class Terms>
void launch_hopper_conv(const PixelConvOf<typename Terms::Element>& conv, int64_t multiprocessors, void* stream) {
  using Tiles = PixelTiles<Terms>;
  const auto plan = plan_terms<Terms>(conv);
  const auto whole = [&]<class Timed>() { launch_pixels<typename Timed::Tile, 1>(plan, multiprocessors, stream); };
  if constexpr (Terms::kSplit) {
    with_quickest<typename Tiles::Square, typename Tiles::Paired, typename Tiles::Narrow, typename Tiles::Few,
                  typename Tiles::Slim, typename Tiles::Small, typename Tiles::SmallFourths>(plan, multiprocessors,
                                                                                             whole);
  } else if (plan.taps == 1) {
    with_quickest<typename Tiles::Wide, typename Tiles::Tall, typename Tiles::Square, typename Tiles::Paired,
                  typename Tiles::Narrow, typename Tiles::Long, typename Tiles::Slim, typename Tiles::Small,
                  typename Tiles::SquareFourths, typename Tiles::SquareEighths, typename Tiles::SmallFourths,
                  typename Tiles::SmallEighths>(plan, multiprocessors, whole);
  } else {
    const auto with = [&]<class Timed>() {
      if (plan.taps == 2) return launch_pixels<typename Timed::Tile, 2>(plan, multiprocessors, stream);
      launch_pixels<typename Timed::Tile, 4>(plan, multiprocessors, stream);
    };
    with_quickest<typename Tiles::Narrow, typename Tiles::Slim>(plan, multiprocessors, with);
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
