// Sums of products with images in the vector lanes, in register tiles.

#include "convlab/kernels/cpu/simd/lanes.h"

#include <algorithm>

#include "convlab/kernels/cpu/simd/by_count.h"
#include "convlab/kernels/cpu/simd/simd.h"
#include "convlab/tensor/format.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/simd/lanes.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/simd/highway-inl.h"
#include "convlab/kernels/cpu/simd/math-inl.h"
#include "convlab/kernels/cpu/simd/tile_terms-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using F = Vector;
static_assert(hn::MaxLanes(F()) <= kImageLanes);

/// The register tile: sums of kMaps output channels and kVectors vectors. kFetches: prefetches job.ahead; if a core is
/// shared, two instructions fewer per reduction index matter.
template <int kMaps, int kVectors, bool kFetches>
HWY_INLINE void sum_tile(const LaneSums& job, const float* const (&x)[kVectors], hn::Vec<F> (&sum)[kMaps][kVectors]) {
  for (int m = 0; m < kMaps; ++m) {
    for (int v = 0; v < kVectors; ++v) sum[m][v] = hn::Zero(F());
  }
  const float* w = job.w;
  const uint32_t* offset = job.offsets;
  [[maybe_unused]] const float* ahead = job.ahead;
  for (const uint32_t* const end = offset + job.terms; offset != end; ++offset, w += kMaps) {
    if constexpr (kFetches) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += kImageLanes;
    }
    const float* at[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) at[v] = x[v] + *offset;
    add_term(w, at, sum);
  }
}

/// One tile; `first` counts vectors over all pixels: with short vectors, a pixel has several.
template <int kMaps, int kVectors>
void plain_tile(const LaneSums& job, int64_t first) {
  const F d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), vectors = kImageLanes / lanes;
  const float* x[kVectors];
  float* y[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const int64_t pixel = (first + v) / vectors, part = (first + v) % vectors * lanes;
    x[v] = job.x + job.x_at[pixel] + part;
    y[v] = job.y + pixel * job.pixel_step + part;
  }
  hn::Vec<F> sum[kMaps][kVectors];
  if (job.ahead != nullptr) {
    sum_tile<kMaps, kVectors, true>(job, x, sum);
  } else {
    sum_tile<kMaps, kVectors, false>(job, x, sum);
  }
#pragma GCC unroll 8
  for (int m = 0; m < kMaps; ++m) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      float* to = y[v] + m * job.map_step;
      hn::Store(job.add ? hn::Add(hn::Load(d, to), sum[m][v]) : sum[m][v], d, to);
    }
  }
}

template <int kMaps>
void plain_tiles(const LaneSums& job) {
  constexpr int kVectors = vectors_beside(kMaps);
  constexpr auto kTiles = by_count<kVectors>([](auto vectors) { return &plain_tile<kMaps, vectors>; });
  const int64_t vectors = job.pixels * (kImageLanes / static_cast<int64_t>(hn::Lanes(F())));
  int64_t first = 0;
  for (; first + kVectors <= vectors; first += kVectors) plain_tile<kMaps, kVectors>(job, first);
  if (first < vectors) kTiles[static_cast<size_t>(vectors - first - 1)](job, first);
}

template <int kMaps>
void pooled_tiles(const LaneSums& job) {
  const F d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t pixel = 0; pixel < job.pixels; ++pixel) {
    for (int64_t part = 0; part < kImageLanes; part += lanes) {
      const float* x[kPoolWindow];
#pragma GCC unroll 4
      for (int v = 0; v < kPoolWindow; ++v) x[v] = job.x + job.x_at[pixel] + job.window[v] + part;
      hn::Vec<F> sum[kMaps][kPoolWindow];
      sum_tile<kMaps, kPoolWindow, false>(job, x, sum);
      float* y = job.y + pixel * job.pixel_step + part;
#pragma GCC unroll 8
      for (int m = 0; m < kMaps; ++m) {
        hn::Store(max_of_four_or_nan(sum[m][0], sum[m][1], sum[m][2], sum[m][3]), d, y + m * job.map_step);
      }
    }
  }
}

constexpr auto kPlain = by_count<kMostMaps>([](auto maps) { return &plain_tiles<maps>; });
constexpr auto kPooled = by_count<kMostMapsPooled>([](auto maps) { return &pooled_tiles<maps>; });

void sum_all_lanes(const LaneSums& job) {
  const auto maps = static_cast<size_t>(job.maps - 1);
  (job.window != nullptr ? kPooled[maps] : kPlain[maps])(job);
}

int lane_maps_of_target(bool pooled) { return pooled ? kMostMapsPooled : kMostMaps; }

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(sum_all_lanes);
HWY_EXPORT(lane_maps_of_target);

}  // namespace

int most_lane_maps(bool pooled) { return HWY_DYNAMIC_DISPATCH(lane_maps_of_target)(pooled); }

void sum_lanes(const LaneSums& sums) { HWY_DYNAMIC_DISPATCH(sum_all_lanes)(sums); }

}  // namespace convlab
#endif  // HWY_ONCE
