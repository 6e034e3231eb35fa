// Register tiles of convolutions from nchw with few channels to nchw8c.

#include "convlab/kernels/cpu/nchw8c/first_tiles.h"

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/simd/by_count.h"
#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nchw8c/first_tiles.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/nchw8c/clamped-inl.h"
#include "convlab/kernels/cpu/nchw8c/maps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kSums = 24;  // of 32 registers
#else
constexpr int kSums = 12;  // of 16
#endif

/// The whole reduction of kPixels outputs for kVectors vectors of output channels: these sums, the weights of one
/// reduction index and one pixel fit the registers.
template <class D, int kVectors, int kPixels>
void first_tile(const FirstRow& row, int64_t output, int64_t map) {
  using V = hn::Vec<D>;
  const D d;
  constexpr int64_t kLanes = hn::MaxLanes(D());
  V sum[kVectors][kPixels];
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const V bias = hn::LoadU(d, row.bias + map + v * kLanes);
#pragma GCC unroll 12
    for (int i = 0; i < kPixels; ++i) sum[v][i] = bias;
  }
  const float* w = row.w + map;
  const float* const x = row.x + output;
  for (const int64_t offset : row.offsets) {
    V weight[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) weight[v] = hn::LoadU(d, w + v * kLanes);
#pragma GCC unroll 12
    for (int i = 0; i < kPixels; ++i) {
      const V pixel = hn::Set(d, x[offset + i]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[v][i] = hn::MulAdd(weight[v], pixel, sum[v][i]);
    }
    w += row.maps;
  }
  // What the epilogue needs of the row is read before anything is stored.
  const V low = hn::Set(d, row.clamp.low), high = hn::Set(d, row.clamp.high);
  const float* const added = row.added;
  float* const y = row.y;
  const int64_t block_step = row.block_step;
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const int64_t first = map + v * kLanes;
    const int64_t at = first / kChannelLanes * block_step + output * kChannelLanes + first % kChannelLanes;
#pragma GCC unroll 12
    for (int i = 0; i < kPixels; ++i) {
      V result = sum[v][i];
      if (added != nullptr) result = hn::Add(result, load_maps(d, added + at + i * kChannelLanes, block_step));
      store_maps(clamped(result, low, high), d, y + at + i * kChannelLanes, block_step);
    }
  }
}

/// Splits a row evenly into tiles, for kMaps output channels.
template <int kMaps>
void first_row(const FirstRow& row) {
  using D = hn::CappedTag<float, std::min(kMaps, 16)>;
  constexpr int64_t kLanes = hn::MaxLanes(D());
  constexpr int kVectors = kLanes == kMaps ? 1 : 2, kMost = std::min(12, kSums / kVectors);
  constexpr auto kTiles = by_count<kMost>([](auto pixels) { return &first_tile<D, kVectors, pixels>; });
  const int64_t tiles = ceil_div(row.outputs, kMost), pixels = ceil_div(row.outputs, tiles);
  const int64_t full = row.outputs - tiles * (pixels - 1);
  for (int64_t map = 0; map < kMaps; map += kVectors * kLanes) {
    int64_t output = 0;
    for (int64_t i = 0; i < full; ++i, output += pixels) kTiles[static_cast<size_t>(pixels - 1)](row, output, map);
    for (; output < row.outputs; output += pixels - 1) kTiles[static_cast<size_t>(pixels - 2)](row, output, map);
  }
}

void any_first_row(const FirstRow& row) {
  if (row.maps == 32) return first_row<32>(row);
  if (row.maps == 16) return first_row<16>(row);
  first_row<8>(row);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(any_first_row);

}  // namespace

void compute_row(const FirstRow& row) { HWY_DYNAMIC_DISPATCH(any_first_row)(row); }

}  // namespace convlab
#endif  // HWY_ONCE
