// Direct convolution in register tiles, independent of the layout of images.

#include "convlab/kernels/cpu/simd/tiles.h"

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/simd/by_count.h"
#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/simd/tiles.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/simd/highway-inl.h"
#include "convlab/kernels/cpu/simd/math-inl.h"
#include "convlab/kernels/cpu/simd/tile_terms-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using F = Vector;

/// One register tile: the whole reduction for kMaps output channels and kVectors vectors of pixels, starting at `x`.
template <int kMaps, int kVectors>
void plain_tile(const TileJob& job, const float* HWY_RESTRICT x, float* HWY_RESTRICT y, int64_t pitch, bool add) {
  const F d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<F> sum[kMaps][kVectors], pixels[kVectors];
  for (int m = 0; m < kMaps; ++m) {
    for (int v = 0; v < kVectors; ++v) sum[m][v] = hn::Zero(d);
  }
  const float* HWY_RESTRICT w = job.w;
  const uint32_t* HWY_RESTRICT offset = job.offsets;
  for (const uint32_t* const end = offset + job.terms; offset != end; ++offset, w += kMaps) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) pixels[v] = hn::LoadU(d, x + *offset + v * lanes);
#pragma GCC unroll 8
    for (int m = 0; m < kMaps; ++m) {
      const hn::Vec<F> weight = hn::Set(d, w[m]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[m][v] = hn::MulAdd(weight, pixels[v], sum[m][v]);
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < kMaps; ++m) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      float* to = y + m * pitch + v * lanes;
      hn::StoreU(add ? hn::Add(hn::LoadU(d, to), sum[m][v]) : sum[m][v], d, to);
    }
  }
}

/// One register tile: kMaps output channels and one vector of pixels, each the maximum of four sums.
template <int kMaps>
void pooled_tile(const TileJob& job, const float* HWY_RESTRICT x, float* HWY_RESTRICT y, int64_t pitch) {
  const F d;
  hn::Vec<F> sum[kMaps][kPoolWindow];
  for (int m = 0; m < kMaps; ++m) {
    for (int v = 0; v < kPoolWindow; ++v) sum[m][v] = hn::Zero(d);
  }
  const float* HWY_RESTRICT w = job.w;
  const uint32_t* HWY_RESTRICT offset = job.offsets;
  for (const uint32_t* const end = offset + job.terms * kPoolWindow; offset != end; offset += kPoolWindow, w += kMaps) {
    const float* at[kPoolWindow];
#pragma GCC unroll 8
    for (int v = 0; v < kPoolWindow; ++v) at[v] = x + offset[v];
    add_term(w, at, sum);
  }
#pragma GCC unroll 8
  for (int m = 0; m < kMaps; ++m) {
    hn::StoreU(max_of_four_or_nan(sum[m][0], sum[m][1], sum[m][2], sum[m][3]), d, y + m * pitch);
  }
}

/// All pixels of a job, in the widest tiles first. A last, partial vector goes through a buffer.
template <int kMaps>
void plain_tiles(const TileJob& job) {
  constexpr int kVectors = vectors_beside(kMaps);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(F()));
  int64_t at = 0;
  for (; at + kVectors * lanes <= job.pixels; at += kVectors * lanes) {
    plain_tile<kMaps, kVectors>(job, job.x + at, job.y + at, job.pitch, job.add);
  }
  for (; at + lanes <= job.pixels; at += lanes) {
    plain_tile<kMaps, 1>(job, job.x + at, job.y + at, job.pitch, job.add);
  }
  if (at == job.pixels) return;
  HWY_ALIGN float part[kMaps * 16] = {};
  plain_tile<kMaps, 1>(job, job.x + at, part, lanes, false);
  for (int m = 0; m < kMaps; ++m) {
    float* y = job.y + m * job.pitch + at;
    for (int64_t i = 0; i < job.pixels - at; ++i) y[i] = job.add ? y[i] + part[m * lanes + i] : part[m * lanes + i];
  }
}

template <int kMaps>
void pooled_tiles(const TileJob& job) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(F()));
  int64_t at = 0;
  for (; at + lanes <= job.pixels; at += lanes) pooled_tile<kMaps>(job, job.x + at, job.y + at, job.pitch);
  if (at == job.pixels) return;
  HWY_ALIGN float part[kMaps * 16] = {};
  pooled_tile<kMaps>(job, job.x + at, part, lanes);
  for (int m = 0; m < kMaps; ++m) std::copy_n(part + m * lanes, job.pixels - at, job.y + m * job.pitch + at);
}

constexpr auto kPlain = by_count<kMostMaps>([](auto maps) { return &plain_tiles<maps>; });
constexpr auto kPooled = by_count<kMostMapsPooled>([](auto maps) { return &pooled_tiles<maps>; });

void sum_all(const TileJob& job) {
  const auto maps = static_cast<size_t>(job.maps - 1);
  (job.pooled ? kPooled[maps] : kPlain[maps])(job);
}

int maps_of_target(bool pooled) { return pooled ? kMostMapsPooled : kMostMaps; }

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(sum_all);
HWY_EXPORT(maps_of_target);

}  // namespace

int64_t channels_at_a_time(const ConvProblem& problem) {
  const int64_t channels = problem.channels_per_group();
  return ceil_div(channels, ceil_div(channels, std::max<int64_t>(kTermsAtATime / (problem.r * problem.s), 1)));
}

int most_maps(bool pooled) { return HWY_DYNAMIC_DISPATCH(maps_of_target)(pooled); }

void sum_tiles(const TileJob& job) { HWY_DYNAMIC_DISPATCH(sum_all)(job); }

}  // namespace convlab
#endif  // HWY_ONCE
