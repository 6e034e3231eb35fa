#pragma once

// A step by hopper_conv.cuh: how filters are packed, the tile that fits, and the launch.

#ifdef __CUDACC__

#include <algorithm>
#include <limits>

#include "convlab/base/checked.h"
#include "convlab/kernels/gpu_channels/hopper_conv.cuh"
#include "convlab/kernels/gpu_channels/hopper_patch.cuh"

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

/// In microseconds: infinity where it cannot be taken.
constexpr double kNever = std::numeric_limits<double>::infinity();

/// A kind of tile, and what it was seen to take on an H100, in hundredths of a microsecond: the launch, a tile beside its
/// slices, a slice.
template <class Tile, int kLaunch, int kTile, int kSlice>
struct TimedTile {
  using Plan = PixelPlan<typename Tile::Element>;

  /// Clusters of four or eight blocks find no place on some multiprocessors.
  static int64_t clusters_at_once(int64_t multiprocessors) {
    const int64_t whole = multiprocessors / Tile::kParts;
    return std::max<int64_t>(Tile::kParts > 2 ? whole * 7 / 8 : whole, 1);
  }
  static double time(const Plan& plan, int64_t multiprocessors) {
    if (plan.slices < Tile::kParts) return kNever;
    const ConvShape& shape = plan.conv.shape;
    const int64_t rows = int64_t{shape.n} * shape.p * shape.q;
    const int64_t tiles = ceil_div(rows, Tile::kRows) * ceil_div(shape.k, Tile::kMaps);
    const double slices = static_cast<double>(ceil_div(plan.slices, Tile::kParts));
    return kLaunch * 0.01 + static_cast<double>(ceil_div(tiles, clusters_at_once(multiprocessors))) *
                                (kTile * 0.01 + slices * kSlice * 0.01);
  }
  template <int kTaps>
  static void launch(const Plan& plan, int64_t multiprocessors, void* stream) {
    launch_pixels<Tile, kTaps>(plan, multiprocessors, stream);
  }
};

/// The same of patches.
template <class Terms, int kLaunch, int kTile, int kSlice>
struct TimedPatches {
  using Plan = PixelPlan<typename Terms::Element>;
  static constexpr int kTerms = kSliceTerms<typename Terms::Element>;

  static double time(const Plan& plan, int64_t multiprocessors) {
    const ConvShape& shape = plan.conv.shape;
    const bool side = shape.r <= kPatchSide && shape.s <= kPatchSide && shape.r * shape.s > 1;
    const bool dense = shape.stride_h == 1 && shape.stride_w == 1 && shape.dilation_h == 1 && shape.dilation_w == 1;
    if (!side || !dense || shape.channels % kTerms != 0 || shape.p < kPatchRows || plan.conv.added != nullptr) {
      return kNever;
    }
    const int64_t tiles = PatchCut(shape, kTerms).tiles;
    return kLaunch * 0.01 +
           static_cast<double>(ceil_div(tiles, multiprocessors)) * (kTile * 0.01 + plan.slices * kSlice * 0.01);
  }
  template <int kTaps>
  static void launch(const Plan& plan, int64_t multiprocessors, void* stream) {
    launch_patches<Terms>(plan.conv, multiprocessors, stream);
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
  using SquareHalves = TimedTile<HopperTile<Terms, 128, 128, 2, 1, 5, 2, 2>, 90, 590, 37>;
  using SquareFourths = TimedTile<HopperTile<Terms, 128, 128, 2, 1, 5, 2, 4>, 90, 830, 40>;
  using SquareEighths = TimedTile<HopperTile<Terms, 128, 128, 2, 1, 5, 2, 8>, 90, 690, 40>;
  using SmallFourths = TimedTile<HopperTile<Terms, 64, 64, 1, 1, 8, 1, 4>, 90, 365, 21>;
  using SmallEighths = TimedTile<HopperTile<Terms, 64, 64, 1, 1, 8, 1, 8>, 90, 400, 21>;
  using Patches = TimedPatches<Terms, 320, 30, kIsHalf<typename Terms::Element> ? 40 : 31>;
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
  using SmallFourths = TimedTile<HopperTile<HopperSplit, 64, 64, 1, 1, 6, 1, 4>, 90, 370, 50>;
};

/// Launches the quickest of those given.
template <int kTaps, class... Timed>
void launch_quickest(const auto& plan, int64_t multiprocessors, void* stream) {
  const double times[] = {Timed::time(plan, multiprocessors)...};
  const auto quickest = std::ranges::min_element(times) - std::begin(times);
  int i = 0;
  ((i++ == quickest ? Timed::template launch<kTaps>(plan, multiprocessors, stream) : void()), ...);
}

/// conv.w is what pack_pixel_filters has packed.
template <class Terms>
void launch_hopper_conv(const PixelConvOf<typename Terms::Element>& conv, int64_t multiprocessors, void* stream) {
  using T = PixelTiles<Terms>;
  const auto plan = plan_terms<Terms>(conv);
  if constexpr (Terms::kSplit) {
    launch_quickest<1, typename T::Square, typename T::Paired, typename T::Narrow, typename T::Few, typename T::Slim,
                    typename T::Small, typename T::SmallFourths>(plan, multiprocessors, stream);
  } else if (plan.taps == 1) {
    launch_quickest<1, typename T::Wide, typename T::Tall, typename T::Square, typename T::Paired, typename T::Narrow,
                    typename T::Long, typename T::Slim, typename T::Small, typename T::SquareHalves,
                    typename T::SquareFourths, typename T::SquareEighths, typename T::SmallFourths,
                    typename T::SmallEighths, typename T::Patches>(plan, multiprocessors, stream);
  } else if (plan.taps == 2) {
    launch_quickest<2, typename T::Narrow, typename T::Slim>(plan, multiprocessors, stream);
  } else {
    launch_quickest<4, typename T::Narrow, typename T::Slim>(plan, multiprocessors, stream);
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
