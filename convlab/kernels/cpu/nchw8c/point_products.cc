// Products of Winograd convolutions at one point, in register tiles.

#include "convlab/kernels/cpu/nchw8c/point_products.h"

#include <algorithm>
#include <array>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/simd/by_count.h"
#include "convlab/kernels/cpu/simd/simd.h"
#include "convlab/tensor/format.h"
#include "hwy/cache_control.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nchw8c/point_products.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

// The most tiles whose sums for 16 output channels, or 32 with AVX-512, fit the registers with the weights and a pixel.
#if HWY_TARGET == HWY_AVX3
constexpr int kMostTiles = 12, kMostPanels = 2;
#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_NEON
constexpr int kMostTiles = 6, kMostPanels = 1;
#elif HWY_TARGET == HWY_SSE4
constexpr int kMostTiles = 3, kMostPanels = 1;
#else
constexpr int kMostTiles = 1, kMostPanels = 1;
#endif

constexpr int64_t kLineFloats = 16;

/// Longer reductions are split, so that their error does not grow with the square root of their length: the transforms'
/// own error leaves little margin.
constexpr int64_t kChannelsAtOnce = 32;

/// Sums of a few tiles for kPanels panels of kMaps output channels. Prefetches `lines` cache lines from `ahead` on for
/// each 8 channels.
template <int kTiles, int kPanels, int kMaps>
void sum_tile(const PointProducts& job, const float* x, const float* w, float* y, const float* ahead, int64_t lines) {
  using F = hn::CappedTag<float, kMaps>;
  using V = hn::Vec<F>;
  const F d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(F())), kOfPanel = kMaps / kLanes, kVectors = kPanels * kOfPanel;
  const int64_t panel_step = job.channels * kMaps;
  for (int64_t channel = 0; channel < job.channels; channel += kChannelsAtOnce) {
    V sum[kTiles][kVectors];
#pragma GCC unroll 16
    for (int t = 0; t < kTiles; ++t) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[t][v] = hn::Zero(d);
    }
    const int64_t end = std::min(channel + kChannelsAtOnce, job.channels);
    for (int64_t block = channel; block < end; block += kChannelLanes) {
      for (int64_t line = 0; line < lines; ++line) hwy::Prefetch(ahead + line * kLineFloats);
      ahead += lines * kLineFloats;
#pragma GCC unroll 8
      for (int c = 0; c < kChannelLanes; ++c) {
        V weight[kVectors];
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
          weight[v] = hn::Load(d, w + v / kOfPanel * panel_step + c * kMaps + v % kOfPanel * kLanes);
        }
#pragma GCC unroll 16
        for (int t = 0; t < kTiles; ++t) {
          const V pixel = hn::Set(d, x[t * kChannelLanes + c]);
#pragma GCC unroll 16
          for (int v = 0; v < kVectors; ++v) sum[t][v] = hn::MulAdd(pixel, weight[v], sum[t][v]);
        }
      }
      x += job.x_step;
      w += kChannelLanes * kMaps;
    }
#pragma GCC unroll 16
    for (int t = 0; t < kTiles; ++t) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        float* const to = y + v / kOfPanel * job.y_step + t * kPointPanelMaps + v % kOfPanel * kLanes;
        hn::Store(channel == 0 ? sum[t][v] : hn::Add(hn::Load(d, to), sum[t][v]), d, to);
      }
    }
  }
}

/// All tiles for kPanels panels of kMaps output channels.
template <int kPanels, int kMaps>
void sum_panels(const PointProducts& job, const float* w, float* y) {
  constexpr auto kOf = by_count<kMostTiles>([](auto tiles) { return &sum_tile<tiles(), kPanels, kMaps>; });
  const int64_t parts = ceil_div(job.tiles, kMostTiles);
  const float* const next = w + kPanels * kMaps * job.channels;
  const int64_t lines = ceil_div(kPanels * kMaps * kChannelLanes / kLineFloats, parts);
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t first = job.tiles * part / parts, count = job.tiles * (part + 1) / parts - first;
    kOf[static_cast<size_t>(count - 1)](job, job.x + first * kChannelLanes, w, y + first * kPointPanelMaps,
                                        next + part * lines * (job.channels / kChannelLanes) * kLineFloats, lines);
  }
}

void sum_all(const PointProducts& job) {
  const float* w = job.w;
  float* y = job.y;
  int64_t left = job.maps;
  for (; left >= kMostPanels * kPointPanelMaps; left -= kMostPanels * kPointPanelMaps) {
    sum_panels<kMostPanels, kPointPanelMaps>(job, w, y);
    w += kMostPanels * kPointPanelMaps * job.channels;
    y += kMostPanels * job.y_step;
  }
  if (left >= kPointPanelMaps) {
    sum_panels<1, kPointPanelMaps>(job, w, y);
    w += kPointPanelMaps * job.channels;
    y += job.y_step;
    left -= kPointPanelMaps;
  }
  if (left > 0) sum_panels<1, kChannelLanes>(job, w, y);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(sum_all);

}  // namespace

void point_products(const PointProducts& job) { HWY_DYNAMIC_DISPATCH(sum_all)(job); }

}  // namespace convlab
#endif  // HWY_ONCE
