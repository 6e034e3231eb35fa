#include "convlab/kernels/cpu_bytes/byte_sums.h"

#include <algorithm>
#include <cstring>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/by_count.h"
#include "convlab/kernels/cpu/matrix_tiles.h"
#include "convlab/kernels/cpu/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu_bytes/byte_sums.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu_bytes/byte_end-inl.h"
#include "convlab/kernels/cpu_bytes/byte_tiles-inl.h"
#include "convlab/kernels/cpu_bytes/byte_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

#if CONVLAB_BYTE_VECTORS

constexpr int kMostSums = HWY_TARGET == HWY_AVX3 ? 24 : 12;

// Tiles that fetch the next panel's weights between them, and lines of the cache that they fetch every four units.
constexpr int64_t kFetchingTiles = 8;
constexpr int kFetchedLines = 2;

/// The part of the next panel's weights that a tile fetches.
struct Fetch {
  const uint8_t *next, *end;

  HWY_INLINE void some() {
    if (next >= end) return;
#pragma GCC unroll 2
    for (int i = 0; i < kFetchedLines; ++i) fetch(next + i * 64);
    next += kFetchedLines * 64;
  }
};

/// Bytes of a map's weights.
int64_t map_bytes(const ByteSums& sums) { return sums.rows * sums.columns * sums.units * kUnitBytes; }

/// A register tile of some pixels and kVectors vectors of maps.
template <ByteUnit kUnit, int kVectors>
struct Tile {
  static constexpr int kMostPixels = std::min(kMostSums / kVectors, 12);
  static constexpr int kMaps = kVectors * kVectorSums;

  template <int kPixels>
  static HWY_INLINE void add_unit(Whole (&sum)[kPixels][kVectors], const uint8_t* const (&x)[kPixels], int64_t at,
                                  const uint8_t* w) {
    Whole weights[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) weights[v] = load(w + v * kVectorBytes);
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
      int32_t unit;
      std::memcpy(&unit, x[p] + at, sizeof(unit));
      const Whole levels = all_of(unit);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) add_products<kUnit>(sum[p][v], levels, weights[v]);
    }
  }

  template <int kPixels>
  static void tile(const ByteSums& sums, const ByteEnd& end, const uint8_t* HWY_RESTRICT w, int64_t place,
                   Fetch fetch) {
    Whole sum[kPixels][kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      const Whole start = end.start(v);
#pragma GCC unroll 12
      for (int p = 0; p < kPixels; ++p) sum[p][v] = start;
    }
    const uint8_t* x[kPixels];
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) x[p] = sums.x + sums.x_at[place + p];
    for (int64_t row = 0; row < sums.rows; ++row) {
      for (int64_t column = 0; column < sums.columns; ++column) {
        int64_t at = row * sums.row_step + column * sums.column_step;
        const int64_t last = at + sums.units * kUnitBytes;
        for (; at + 4 * kUnitBytes <= last; at += 4 * kUnitBytes) {
#pragma GCC unroll 4
          for (int unit = 0; unit < 4; ++unit) {
            add_unit<kPixels>(sum, x, at + kUnitBytes * unit, w + unit * kMaps * kUnitBytes);
          }
          w += 4 * kMaps * kUnitBytes;
          fetch.some();
        }
        for (; at < last; at += kUnitBytes, w += kMaps * kUnitBytes) add_unit<kPixels>(sum, x, at, w);
      }
    }
    if (end.adds()) {
      finish<kPixels, true>(end, sum, sums.y_at + place);
    } else {
      finish<kPixels, false>(end, sum, sums.y_at + place);
    }
  }

  template <int kPixels, bool kAdds>
  static HWY_INLINE void finish(const ByteEnd& shared, const Whole (&sum)[kPixels][kVectors], const int32_t* y_at) {
    const ByteEnd end = shared;  // in registers: bytes that are stored might be the shared one's
#pragma GCC unroll 6
    for (int p = 0; p + 1 < kPixels; p += 2) {
      const Whole first = end.words<kVectors, kAdds>(sum[p], y_at[p]);
      end.store<kVectors>(first, y_at[p], end.words<kVectors, kAdds>(sum[p + 1], y_at[p + 1]), y_at[p + 1]);
    }
    if constexpr (kPixels % 2 == 1) {
      const Whole last = end.words<kVectors, kAdds>(sum[kPixels - 1], y_at[kPixels - 1]);
      end.store<kVectors>(last, y_at[kPixels - 1], last, y_at[kPixels - 1]);
    }
  }

  /// All places, evenly cut. `next_bytes` of weights come behind these.
  static void tiles(const ByteSums& sums, const ByteEnd& end, const uint8_t* w, int64_t next_bytes) {
    constexpr auto kTile = by_count<kMostPixels>([](auto pixels) { return &Tile::tile<pixels>; });
    const int64_t count = ceil_div(sums.count, kMostPixels);
    const uint8_t* const next = w + kMaps * map_bytes(sums);
    const int64_t share = round_up(ceil_div(next_bytes, std::min(count, kFetchingTiles)), 64);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t place = sums.count * i / count, behind = sums.count * (i + 1) / count;
      const int64_t from = std::min(i * share, next_bytes), to = std::min(from + share, next_bytes);
      kTile[static_cast<size_t>(behind - place - 1)](sums, end, w, place, {next + from, next + to});
    }
  }
};

template <ByteUnit kUnit>
void sum_in_registers(const ByteSums& sums) {
  const uint8_t* w = sums.w;
  for (int64_t map = 0, maps = 0; map < sums.maps; map += maps, w += maps * map_bytes(sums)) {
    const ByteEnd end(sums, map);
    maps = end.maps();
    const int64_t left = sums.maps - map - maps, next_bytes = left > 0 ? maps_of_panel(left) * map_bytes(sums) : 0;
    (maps == kMostMaps ? Tile<kUnit, 2>::tiles : Tile<kUnit, 1>::tiles)(sums, end, w, next_bytes);
  }
}

void sum_any(const ByteSums& sums) {
#if HWY_TARGET == HWY_AVX3
  if (sums.unit == ByteUnit::tiles) return sum_in_tiles(sums);
#endif
  if (sums.unit == ByteUnit::dots) return sum_in_registers<ByteUnit::dots>(sums);
  sum_in_registers<ByteUnit::words>(sums);
}

int64_t panel_of(int64_t left) { return maps_of_panel(left); }

/// Of two vectors: within 16 bytes of a pixel's words, 4 maps of the first come before 4 of the second.
int64_t place_in_panel(int64_t maps, int64_t map) {
  return maps < kMostMaps ? map : map / 4 % 2 * kVectorSums + map / 8 * 4 + map % 4;
}

#else

constexpr int64_t kMostMaps = 8;

/// One pixel after the other, in loops that compilers make vectors of.
void sum_panel(const ByteSums& sums, int64_t first, const int16_t* weights, int64_t place) {
  int32_t sum[kMostMaps];
  std::copy_n(sums.start + first, kMostMaps, sum);
  for (int64_t i = 0; i < sums.rows * sums.columns; ++i) {
    const int64_t at = i / sums.columns * sums.row_step + i % sums.columns * sums.column_step;
    const auto* x = reinterpret_cast<const int16_t*>(sums.x + sums.x_at[place] + at);
    for (int64_t unit = 0; unit < sums.units; ++unit, x += 2, weights += 2 * kMostMaps) {
      for (int64_t map = 0; map < kMostMaps; ++map) sum[map] += x[0] * weights[2 * map] + x[1] * weights[2 * map + 1];
    }
  }
  for (int64_t map = 0; map < std::min(kMostMaps, sums.maps - first); ++map) {
    const int64_t at = sums.y_at[place] * sums.y_step + first + map;
    const float value = static_cast<float>(sum[map]) * sums.factors[first + map];
    const uint8_t level = level_of(value, sums.rule);
    if (sums.added == nullptr) {
      sums.y[at] = level;
      continue;
    }
    const float rest = static_cast<float>(sums.added[at]) * sums.sum.b_factor + sums.sum.rest;
    sums.y[at] = level_of(static_cast<float>(level - sums.rule.zero) * sums.sum.a_factor + rest, sums.sum.rule);
  }
}

void sum_any(const ByteSums& sums) {
  const auto* w = reinterpret_cast<const int16_t*>(sums.w);
  for (int64_t map = 0; map < sums.maps; map += kMostMaps, w += sums.rows * sums.columns * sums.units * 2 * kMostMaps) {
    for (int64_t place = 0; place < sums.count; ++place) sum_panel(sums, map, w, place);
  }
}

int64_t panel_of(int64_t) { return kMostMaps; }
int64_t place_in_panel(int64_t, int64_t map) { return map; }

#endif

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(sum_any);
HWY_EXPORT(panel_of);
HWY_EXPORT(place_in_panel);

}  // namespace

int64_t byte_panel_maps(int64_t left) { return HWY_DYNAMIC_DISPATCH(panel_of)(left); }

int64_t byte_panel_place(int64_t maps, int64_t map) { return HWY_DYNAMIC_DISPATCH(place_in_panel)(maps, map); }

int64_t byte_units_held(ByteUnit unit, int64_t units) {
  return unit == ByteUnit::tiles ? TermTiles(units).held() : units;
}

int64_t byte_unit_place(ByteUnit unit, int64_t units, int64_t number) {
  return unit == ByteUnit::tiles ? TermTiles(units).place(number) : number;
}

void sum_bytes(const ByteSums& sums) { HWY_DYNAMIC_DISPATCH(sum_any)(sums); }

}  // namespace convlab
#endif  // HWY_ONCE
