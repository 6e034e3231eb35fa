#pragma once

// Host side of hopper_conv.cuh: the layout of the K dimension, tile selection by a time model, and launches.

#ifdef __CUDACC__

#include <algorithm>
#include <limits>

#include "convlab/base/checked.h"
#include "convlab/kernels/cuda/nhwc/hopper_conv.cuh"
#include "convlab/kernels/cuda/nhwc/hopper_patch.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
/// Returns the layout of the K dimension; see PixelPlan. It does not depend on the number of images.
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

template <class Tile, int kTaps>
void launch_pixels(PixelPlan<typename Tile::Element> plan, int64_t multiprocessors, void* stream) {
  using Terms = typename Tile::Terms;
  using Element = typename Tile::Element;
  constexpr int kTerms = kSliceTerms<Element>;
  constexpr CUtensorMapDataType kType = kCopiedType<Element>;
  const PixelConvOf<Element>& conv = plan.conv;
  const ConvShape& shape = conv.shape;
  const int64_t rows = int64_t{shape.n} * shape.p * shape.q;
  plan.map_tiles = static_cast<int>(ceil_div(shape.k, Tile::kMaps));
  plan.tiles = static_cast<int>(ceil_div(rows, Tile::kRows) * plan.map_tiles);
  const CUtensorMap x = plan.matrix ? describe_rows(kTermType<Terms>, conv.x, rows, shape.channels, conv.x_step,
                                                    kTerms / kTaps, Tile::kRows)
                                    : describe_pixels(kTermType<Terms>, conv, kTerms / kTaps, Tile::kRows);
  CUtensorMap w = x;  // filters stored in their shared memory layout are copied without a TMA descriptor
  if constexpr (!Terms::kScales) {
    using Filter = typename Terms::Filter;
    const int64_t terms = int64_t{plan.slices} * Terms::kFilterParts * kTerms;
    w = describe_rows(kCopiedType<Filter>, static_cast<const Filter*>(conv.w), shape.k, terms, terms, kTerms,
                      Tile::kMaps);
  }
  const CUtensorMap y = describe_rows<Element>(kType, conv.y, rows, shape.k, conv.y_step, Tile::kBoxMaps, 16);
  const CUtensorMap added =
      conv.added == nullptr ? y : describe_rows(kType, conv.added, rows, shape.k, conv.added_step, Tile::kBoxMaps, 16);
  const int64_t clusters = Tile::kParts > 1 ? plan.tiles : std::min<int64_t>(plan.tiles, multiprocessors);
  launch(convolve_pixels<Tile, kTaps>,
         {.grid = clusters * Tile::kParts, .block = Tile::kThreads, .shared_bytes = Tile::kBytes, .early = true},
         stream, x, w, added, y, plan);
}

/// Time in microseconds of a tile that cannot be used.
constexpr double kNever = std::numeric_limits<double>::infinity();

/// A kind of tile and its times on an H100, measured in a CUDA graph of many launches, in hundredths of a microsecond:
/// per launch, per tile without its slices, and per slice.
template <class Tile, int kLaunch, int kTile, int kSlice>
struct TimedTile {
  using Plan = PixelPlan<typename Tile::Element>;

  /// Returns how many clusters run at once. Clusters of four or eight blocks do not fit on some multiprocessors.
  static int64_t clusters_at_once(int64_t multiprocessors) {
    const int64_t whole = multiprocessors / Tile::kParts;
    return std::max<int64_t>(Tile::kParts > 2 ? whole * 7 / 8 : whole, 1);
  }
  static double time(const Plan& plan, int64_t multiprocessors) {
    if (plan.slices < Tile::kParts || plan.conv.pools) return kNever;
    const ConvShape& shape = plan.conv.shape;
    const int64_t rows = int64_t{shape.n} * shape.p * shape.q;
    const int64_t tiles = ceil_div(rows, Tile::kRows) * ceil_div(shape.k, Tile::kMaps);
    const double slices = static_cast<double>(ceil_div(plan.slices, Tile::kParts));
    const double alone = kLaunch * 0.01 + static_cast<double>(ceil_div(tiles, clusters_at_once(multiprocessors))) *
                                              (kTile * 0.01 + slices * kSlice * 0.01);
    // The blocks of a large cluster read slices that no other block reads at that time, so all loads come from L2.
    constexpr double kAnswer = 3, kBytes = 5.1e6;  // latency in us, and bytes read per us, measured on an H100
    const double bytes = static_cast<double>(tiles * plan.slices) * Tile::kStage;
    return Tile::kParts > 2 ? std::max(alone, kAnswer + bytes / kBytes) : alone;
  }
  template <int kTaps>
  static void launch(const Plan& plan, int64_t multiprocessors, void* stream) {
    launch_pixels<Tile, kTaps>(plan, multiprocessors, stream);
  }
};

/// The same for hopper_patch.cuh.
template <class Terms, int kLaunch, int kTile, int kSlice>
struct TimedPatches {
  using Plan = PixelPlan<typename Terms::Element>;
  static constexpr int kTerms = kSliceTerms<typename Terms::Element>;

  static double time(const Plan& plan, int64_t multiprocessors) {
    const ConvShape& shape = plan.conv.shape;
    const bool side = shape.r <= kPatchSide && shape.s <= kPatchSide && shape.r * shape.s > 1;
    const bool dense = shape.stride_h == 1 && shape.stride_w == 1 && shape.dilation_h == 1 && shape.dilation_w == 1;
    if (!side || !dense || shape.channels % kTerms != 0 || plan.conv.added != nullptr) return kNever;
    if (shape.q < 2 || shape.p / 2 * 2 < kPatchRows) return kNever;
    const PatchCut cut(shape, plan.conv.pools, kTerms);
    return kLaunch * 0.01 +
           static_cast<double>(ceil_div(cut.tiles, multiprocessors)) * (kTile * 0.01 + plan.slices * kSlice * 0.01);
  }
  template <int kTaps>
  static void launch(const Plan& plan, int64_t multiprocessors, void* stream) {
    launch_patches<Terms>(plan.conv, multiprocessors, stream);
  }
};

template <class Terms>
struct PixelTiles {
  using Wide = TimedTile<HopperTile<Terms, 128, 256, 2, 1, 4, 2>, 0, 420, 63>;
  using Tall = TimedTile<HopperTile<Terms, 256, 128, 2, 1, 4, 2>, 55, 480, 63>;
  using Square = TimedTile<HopperTile<Terms, 128, 128, 2, 1, 6, 2>, 13, 248, 38>;
  using Paired = TimedTile<HopperTile<Terms, 128, 128, 1, 2, 5, 4>, 52, 227, 33>;
  using Flat = TimedTile<HopperTile<Terms, 64, 256, 1, 2, 4, 4>, 64, 189, 34>;
  using Narrow = TimedTile<HopperTile<Terms, 128, 64, 1, 2, 8, 2>, 94, 112, 27>;
  using Long = TimedTile<HopperTile<Terms, 256, 64, 1, 2, 4, 4>, 70, 234, 48>;
  using Slim = TimedTile<HopperTile<Terms, 128, 32, 1, 2, 8, 2>, 162, 53, 22>;
  using Small = TimedTile<HopperTile<Terms, 64, 64, 1, 1, 8, 1>, 140, 61, 19>;
  using SquareHalves = TimedTile<HopperTile<Terms, 128, 128, 2, 1, 5, 2, 2>, 23, 579, 32>;
  using SquareFourths = TimedTile<HopperTile<Terms, 128, 128, 2, 1, 5, 2, 4>, 66, 532, 37>;
  using FlatFourths = TimedTile<HopperTile<Terms, 64, 128, 1, 1, 7, 1, 4>, 7, 386, 28>;
  using SmallFourths = TimedTile<HopperTile<Terms, 64, 64, 1, 1, 8, 1, 4>, 94, 275, 17>;
  using SmallEighths = TimedTile<HopperTile<Terms, 64, 64, 1, 1, 8, 1, 8>, 81, 258, 22>;
  using Patches = TimedPatches<Terms, 258, 149, 26>;
};

/// Split elements take three products, and so three times as long, and larger stages.
template <>
struct PixelTiles<HopperSplitTf32> {
  using Square = TimedTile<HopperTile<HopperSplitTf32, 128, 128, 2, 1, 4, 2>, 0, 213, 111>;
  using Paired = TimedTile<HopperTile<HopperSplitTf32, 64, 128, 1, 2, 4, 2>, 248, 63, 78>;
  using Narrow = TimedTile<HopperTile<HopperSplitTf32, 128, 64, 2, 1, 6, 2>, 139, 156, 87>;
  using Few = TimedTile<HopperTile<HopperSplitTf32, 64, 64, 1, 2, 6, 2>, 223, 43, 64>;
  using Slim = TimedTile<HopperTile<HopperSplitTf32, 128, 32, 2, 1, 6, 1>, 217, 52, 79>;
  using Small = TimedTile<HopperTile<HopperSplitTf32, 64, 64, 1, 1, 6, 1>, 171, 103, 62>;
  using SmallFourths = TimedTile<HopperTile<HopperSplitTf32, 64, 64, 1, 1, 6, 1, 4>, 87, 292, 69>;
};

template <>
struct PixelTiles<HopperSplitHalves> {
  using Square = TimedTile<HopperTile<HopperSplitHalves, 128, 128, 2, 1, 4, 2>, 0, 280, 66>;
  using Paired = TimedTile<HopperTile<HopperSplitHalves, 64, 128, 1, 2, 5, 2>, 134, 122, 38>;
  using Narrow = TimedTile<HopperTile<HopperSplitHalves, 128, 64, 2, 1, 6, 2>, 170, 165, 42>;
  using Few = TimedTile<HopperTile<HopperSplitHalves, 64, 64, 1, 2, 8, 2>, 204, 74, 27>;
  using Slim = TimedTile<HopperTile<HopperSplitHalves, 128, 32, 2, 1, 8, 1>, 191, 104, 32>;
  using Small = TimedTile<HopperTile<HopperSplitHalves, 64, 64, 1, 1, 8, 1>, 158, 126, 26>;
  using SquareHalves = TimedTile<HopperTile<HopperSplitHalves, 128, 128, 2, 1, 4, 2, 2>, 0, 714, 61>;
  using SmallFourths = TimedTile<HopperTile<HopperSplitHalves, 64, 64, 1, 1, 8, 1, 4>, 79, 321, 25>;
};

/// A set of tile kinds, for slices of kTaps taps.
template <int kTaps, class... Timed>
struct TimedTiles {
  static double time(const auto& plan, int64_t multiprocessors) {
    return std::min({Timed::time(plan, multiprocessors)...});
  }
  /// Launches the fastest.
  static void launch(const auto& plan, int64_t multiprocessors, void* stream) {
    const double times[] = {Timed::time(plan, multiprocessors)...};
    const auto quickest = std::ranges::min_element(times) - std::begin(times);
    int i = 0;
    ((i++ == quickest ? Timed::template launch<kTaps>(plan, multiprocessors, stream) : void()), ...);
  }
};

/// Calls `with.template operator()<Tiles>()` with the tile kinds that a plan can use.
template <class Terms>
auto with_tiles(const PixelPlan<typename Terms::Element>& plan, const auto& with) {
  using T = PixelTiles<Terms>;
  if constexpr (Terms::kScales) {
    return with.template
    operator()<TimedTiles<1, typename T::Square, typename T::Paired, typename T::Narrow, typename T::Few,
                          typename T::Slim, typename T::Small, typename T::SquareHalves, typename T::SmallFourths>>();
  } else if constexpr (Terms::kSplit) {
    return with
        .template operator()<TimedTiles<1, typename T::Square, typename T::Paired, typename T::Narrow, typename T::Few,
                                        typename T::Slim, typename T::Small, typename T::SmallFourths>>();
  } else if (plan.taps == 1) {
    return with.template
    operator()<TimedTiles<1, typename T::Wide, typename T::Tall, typename T::Square, typename T::Paired,
                          typename T::Flat, typename T::Narrow, typename T::Long, typename T::Slim, typename T::Small,
                          typename T::SquareHalves, typename T::SquareFourths, typename T::FlatFourths,
                          typename T::SmallFourths, typename T::SmallEighths, typename T::Patches>>();
  } else if (plan.taps == 2) {
    return with.template operator()<TimedTiles<2, typename T::Narrow, typename T::Slim>>();
  } else {
    return with.template operator()<TimedTiles<4, typename T::Narrow, typename T::Slim>>();
  }
}

/// Returns whether fused pooling is faster than the convolution followed by a pooling step.
template <class Terms>
bool pools_quickly(PixelPlan<typename Terms::Element> plan, int64_t multiprocessors) {
  constexpr double kPool = 2.5, kBytes = 2.2e6;  // fixed time in us, and bytes read per us, measured on an H100
  const auto time = [&] {
    return with_tiles<Terms>(plan, [&]<class Tiles>() { return Tiles::time(plan, multiprocessors); });
  };
  const ConvShape& shape = plan.conv.shape;
  const double bytes =
      static_cast<double>(int64_t{shape.n} * shape.p * shape.q * shape.k) * sizeof(typename Terms::Element);
  plan.conv.pools = true;
  const double pooled = time();
  plan.conv.pools = false;
  return pooled < time() + kPool + bytes / kBytes;
}

/// conv.w: filters packed by HopperConv.
template <class Terms>
void launch_hopper_conv(const PixelConvOf<typename Terms::Element>& conv, int64_t multiprocessors, void* stream) {
  const auto plan = plan_terms<Terms>(conv);
  with_tiles<Terms>(plan, [&]<class Tiles>() { Tiles::launch(plan, multiprocessors, stream); });
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
