// Sums of products with output channels in the lanes, in register tiles, for convolutions in nchw8c.

#include "convlab/kernels/cpu/nchw8c/channel_sums.h"

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/simd/by_count.h"
#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nchw8c/channel_sums.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/nchw8c/clamped-inl.h"
#include "convlab/kernels/cpu/nchw8c/maps-inl.h"
#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kSums = 24, kMostMaps = 32;
#else
constexpr int kSums = 12, kMostMaps = 16;
#endif

/// Weights that are prefetched into L2 while a tile is summed: those that follow the current ones in memory. The tiles
/// of a call share this work.
struct WeightsAhead {
  const char* at;
  int64_t lines;  ///< per reduction block
};

/// A register tile of kPixels pixels and kMaps output channels.
template <int kMaps>
struct Tile {
  using D = hn::CappedTag<float, kMaps == 8 ? 8 : 16>;
  using V = hn::Vec<D>;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  static constexpr int kVectors = kMaps / kLanes;
  static constexpr int64_t kLines = kChannelLanes * kMaps * 4 / 64;  // cache lines of a reduction block's weights
  static constexpr int kMostPixels = std::clamp(kSums / kVectors, 1, 12);

  template <int kPixels>
  static void sum(const ChannelSums& sums, int64_t pixel, WeightsAhead ahead) {
    const D d;
    V sum[kPixels][kVectors];
    float* const y = sums.y + pixel * kChannelLanes;
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 16
      for (int p = 0; p < kPixels; ++p) sum[p][v] = hn::Zero(d);
    }
    if (!sums.first) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        const float* const from = y + v * kLanes / kChannelLanes * sums.block_step + v * kLanes % kChannelLanes;
#pragma GCC unroll 16
        for (int p = 0; p < kPixels; ++p) sum[p][v] = load_maps(d, from + p * kChannelLanes, sums.block_step);
      }
    } else if (sums.bias != nullptr) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 16
        for (int p = 0; p < kPixels; ++p) sum[p][v] = hn::LoadU(d, sums.bias + v * kLanes);
      }
    }

    const float* HWY_RESTRICT x[kPixels];
#pragma GCC unroll 16
    for (int p = 0; p < kPixels; ++p) x[p] = sums.x + (sums.pixels[pixel + p] - sums.origin);
    const float* HWY_RESTRICT w = sums.w;
    const int32_t* HWY_RESTRICT offset = sums.offsets;
    for (const int32_t* const end = offset + sums.terms; offset != end; ++offset) {
      for (int64_t line = 0; line < ahead.lines; ++line, ahead.at += 64) __builtin_prefetch(ahead.at, 0, 2);
      const int64_t at = *offset;
#pragma GCC unroll 8
      for (int c = 0; c < kChannelLanes; ++c, w += kMaps) {
        V weights[kVectors];
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
          weights[v] = hn::LoadU(d, w + v * kLanes);
        }
#pragma GCC unroll 16
        for (int p = 0; p < kPixels; ++p) {
          const V channel = hn::Set(d, x[p][at + c]);
#pragma GCC unroll 16
          for (int v = 0; v < kVectors; ++v) sum[p][v] = hn::MulAdd(channel, weights[v], sum[p][v]);
        }
      }
    }

    const V low = hn::Set(d, sums.clamp.low), high = hn::Set(d, sums.clamp.high);
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      float* const to = y + v * kLanes / kChannelLanes * sums.block_step + v * kLanes % kChannelLanes;
#pragma GCC unroll 16
      for (int p = 0; p < kPixels; ++p) {
        float* const place = to + p * kChannelLanes;
        V result = sum[p][v];
        if (sums.last) {
          if (sums.added != nullptr) {
            result = hn::Add(result, load_maps(d, sums.added + (place - sums.y), sums.block_step));
          }
          result = clamped(result, low, high);
        }
        store_maps(result, d, place, sums.block_step);
      }
    }
  }

  /// Splits all pixels evenly: a tile of 5 is as fast per pixel as one of 6, a tile of 1 is not.
  static void sum_all(const ChannelSums& sums) {
    constexpr auto kSum = by_count<kMostPixels>([](auto pixels) { return &Tile::sum<pixels>; });
    const int64_t tiles = ceil_div(sums.count, kMostPixels), lines = ceil_div(kLines, tiles);
    const char* after = reinterpret_cast<const char*>(sums.w + sums.terms * kChannelLanes * kMaps);
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t pixel = sums.count * tile / tiles, end = sums.count * (tile + 1) / tiles;
      const WeightsAhead ahead{after + tile * lines * sums.terms * 64, tile * lines < kLines ? lines : 0};
      kSum[static_cast<size_t>(end - pixel - 1)](sums, pixel, ahead);
    }
  }
};

void sum_maps(const ChannelSums& sums) {
  if (sums.maps == 8) return Tile<8>::sum_all(sums);
  if (sums.maps == 16) return Tile<16>::sum_all(sums);
  if constexpr (kMostMaps == 32) Tile<32>::sum_all(sums);
}

int64_t most_maps_of_target() { return kMostMaps; }

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(sum_maps);
HWY_EXPORT(most_maps_of_target);

}  // namespace

int64_t channel_panel_maps(int64_t left) {
  if (left >= 32 && HWY_DYNAMIC_DISPATCH(most_maps_of_target)() == 32) return 32;
  return left >= 16 ? 16 : 8;
}

void pack_panels(const float* w, int64_t maps, int64_t terms, int64_t padded_maps, int64_t padded_terms, float* to) {
  for (int64_t first = 0, count = 0; first < padded_maps; first += count) {
    count = channel_panel_maps(padded_maps - first);
    for (int64_t term = 0; term < padded_terms; ++term) {
      for (int64_t m = first; m < first + count; ++m) *to++ = m < maps && term < terms ? w[m * terms + term] : 0;
    }
  }
}

void sum_channels(const ChannelSums& sums) { HWY_DYNAMIC_DISPATCH(sum_maps)(sums); }

}  // namespace convlab
#endif  // HWY_ONCE
