// Sums of 8-bit products with output channels in the lanes, for quantized convolutions.

#include "convlab/kernels/cpu/nhwc_int8/byte_sums.h"

#include <algorithm>
#include <cstring>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/simd/by_count.h"
#include "convlab/kernels/cpu/simd/matrix_tiles.h"
#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nhwc_int8/byte_sums.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/nhwc_int8/byte_end-inl.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_tiles-inl.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

#if CONVLAB_BYTE_VECTORS

/// The most sums in registers that leave room for their operands.
constexpr int most_sums(ByteUnit unit) {
  const int all = HWY_TARGET == HWY_AVX3 ? 32 : 16;
  return unit == ByteUnit::dots ? all * 3 / 4 : all / 2;
}

// The tiles that prefetch the next panel's weights, and the cache lines that they prefetch every four units.
constexpr int64_t kFetchingTiles = 8;
constexpr int kFetchedLines = 2;

/// The part of the next panel's weights to prefetch.
struct Fetch {
  const uint8_t *next, *end;

  HWY_INLINE void some() {
    if (next >= end) return;
#pragma GCC unroll 2
    for (int i = 0; i < kFetchedLines; ++i) fetch(next + i * 64);
    next += kFetchedLines * 64;
  }
};

/// Bytes of an output channel's weights.
int64_t map_bytes(const ByteSums& sums) { return sums.rows * sums.columns * sums.units * kUnitBytes; }

/// A register tile of some pixels and kVectors vectors of output channels.
template <ByteUnit kUnit, int kVectors>
struct Tile {
  static constexpr int kMostPixels = std::min(most_sums(kUnit) / kVectors, 12);
  static constexpr int kMaps = kVectors * kVectorSums;
  static constexpr int64_t kUnitWeights = kMaps * kUnitBytes;

  /// Broadcasts a pixel's unit to all lanes.
  static HWY_INLINE Whole unit_at(const uint8_t* x) {
    int32_t unit;
    std::memcpy(&unit, x, sizeof(unit));
    return all_of(unit);
  }

  template <int kPixels>
  static HWY_INLINE void add_unit(Whole (&sum)[kPixels][kVectors], const uint8_t* const (&x)[kPixels], int64_t at,
                                  const uint8_t* w) {
    Whole weights[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) weights[v] = load(w + v * kVectorBytes);
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
      const Whole levels = unit_at(x[p] + at);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) add_products<kUnit>(sum[p][v], levels, weights[v]);
    }
  }

  template <int kPixels>
  static HWY_INLINE void add_two_units(Whole (&sum)[kPixels][kVectors], const uint8_t* const (&x)[kPixels], int64_t at,
                                       const uint8_t* w) {
    Whole weights[2][kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < 2 * kVectors; ++v) weights[v / kVectors][v % kVectors] = load(w + v * kVectorBytes);
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) {
      const Whole first = unit_at(x[p] + at), second = unit_at(x[p] + at + kUnitBytes);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        add_pairs(sum[p][v], both_pairs(pairs_of(first, weights[0][v]), pairs_of(second, weights[1][v])));
        asm("" : "+v"(sum[p][v]));  // keeps sums in registers
      }
    }
  }

  template <int kPixels>
  static HWY_INLINE void add_four_units(Whole (&sum)[kPixels][kVectors], const uint8_t* const (&x)[kPixels], int64_t at,
                                        const uint8_t* w) {
    constexpr int kTogether = kUnit == ByteUnit::fours ? 2 : 1;
#pragma GCC unroll 4
    for (int unit = 0; unit < 4; unit += kTogether) {
      if constexpr (kTogether == 2) {
        add_two_units<kPixels>(sum, x, at + kUnitBytes * unit, w + unit * kUnitWeights);
      } else {
        add_unit<kPixels>(sum, x, at + kUnitBytes * unit, w + unit * kUnitWeights);
      }
    }
  }

  template <int kPixels>
  static HWY_INLINE void add_extras(Whole (&sum)[kPixels][kVectors], const uint8_t* const (&x)[kPixels],
                                    const uint8_t* w, const BytePanel& panel) {
    const uint8_t* x_at = w + (panel.extras[0] + panel.extras[1]) * kVectorBytes;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      for (int32_t i = 0; i < panel.extras[v]; ++i, w += kVectorBytes, x_at += sizeof(int32_t)) {
        int32_t at;
        std::memcpy(&at, x_at, sizeof(at));
        const Whole weights = load(w);
#pragma GCC unroll 12
        for (int p = 0; p < kPixels; ++p) add_products<kUnit>(sum[p][v], unit_at(x[p] + at), weights);
      }
    }
  }

  template <int kPixels>
  static void tile(const ByteSums& sums, const ByteEnd& end, const uint8_t* HWY_RESTRICT w, const BytePanel& panel,
                   int64_t place, Fetch fetch) {
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
        int64_t at = sums.tap_at(row, column);
        const int64_t last = at + sums.units * kUnitBytes;
        for (; at + 4 * kUnitBytes <= last; at += 4 * kUnitBytes) {
          add_four_units<kPixels>(sum, x, at, w);
          w += 4 * kUnitWeights;
          fetch.some();
        }
        if (kUnit == ByteUnit::fours && at + 2 * kUnitBytes <= last) {
          add_two_units<kPixels>(sum, x, at, w);
          at += 2 * kUnitBytes, w += 2 * kUnitWeights;
        }
        for (; at < last; at += kUnitBytes, w += kUnitWeights) add_unit<kPixels>(sum, x, at, w);
      }
    }
    if constexpr (kUnit != ByteUnit::dots) add_extras<kPixels>(sum, x, w, panel);
    if (end.adds()) {
      finish<kPixels, true>(end, sum, sums.y_at + place);
    } else {
      finish<kPixels, false>(end, sum, sums.y_at + place);
    }
  }

  template <int kPixels, bool kAdds>
  static HWY_INLINE void finish(const ByteEnd& shared, const Whole (&sum)[kPixels][kVectors], const int32_t* y_at) {
    const ByteEnd end = shared;  // in registers: stored bytes might alias `shared`
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

  /// Splits all positions evenly into tiles; the first ones prefetch the next panel's weights.
  static void tiles(const ByteSums& sums, const ByteEnd& end, const BytePanel& panel, const uint8_t* w, Fetch all) {
    constexpr auto kTile = by_count<kMostPixels>([](auto pixels) { return &Tile::tile<pixels>; });
    const int64_t count = ceil_div(sums.count, kMostPixels);
    const int64_t share = round_up(ceil_div(all.end - all.next, std::min(count, kFetchingTiles)), 64);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t place = sums.count * i / count, behind = sums.count * (i + 1) / count;
      const Fetch fetch = {std::min(all.next + i * share, all.end), std::min(all.next + (i + 1) * share, all.end)};
      kTile[static_cast<size_t>(behind - place - 1)](sums, end, w, panel, place, fetch);
    }
  }
};

template <ByteUnit kUnit>
void sum_panel(const ByteSums& sums, const ByteEnd& end, const BytePanel& panel, const uint8_t* w, Fetch next) {
  (end.maps() == kMostMaps ? Tile<kUnit, 2>::tiles : Tile<kUnit, 1>::tiles)(sums, end, panel, w, next);
}

void sum_in_registers(const ByteSums& sums) {
  const BytePanel* panel = sums.panels;
  for (int64_t map = 0; map < sums.maps; ++panel) {
    const ByteEnd end(sums, map);
    map += end.maps();
    const uint8_t* const w = sums.of_panel(*panel);
    Fetch next = {w, w};
    if (const int64_t left = sums.maps - map; left > 0) {
      next.next += panel[1].at - panel->at;
      next.end = next.next + maps_of_panel(left) * map_bytes(sums);
    }
    if (sums.unit == ByteUnit::dots) {
      sum_panel<ByteUnit::dots>(sums, end, *panel, w, next);
    } else if (panel->together == 2) {
      sum_panel<ByteUnit::fours>(sums, end, *panel, w, next);
    } else {
      sum_panel<ByteUnit::pairs>(sums, end, *panel, w, next);
    }
  }
}

void sum_any(const ByteSums& sums) {
#if HWY_TARGET == HWY_AVX3
  if (sums.unit == ByteUnit::tiles) return sum_in_tiles(sums);
#endif
  sum_in_registers(sums);
}

int64_t panel_of(int64_t left) { return maps_of_panel(left); }
int64_t vector_of_target() { return kVectorSums; }

/// With two vectors: within 16 bytes of a pixel's words, 4 output channels of the first come before 4 of the second.
int64_t place_in_panel(int64_t maps, int64_t map) {
  return maps < kMostMaps ? map : map / 4 % 2 * kVectorSums + map / 8 * 4 + map % 4;
}

#else

constexpr int64_t kMostMaps = 8;

void add_unit(const uint8_t* x, const int8_t* w, int32_t (&sum)[kMostMaps]) {
  for (int64_t map = 0; map < kMostMaps; ++map, w += kUnitBytes) {
    for (int64_t i = 0; i < kUnitBytes; ++i) sum[map] += x[i] * w[i];
  }
}

/// One pixel at a time, in loops that compilers vectorize.
void sum_panel(const ByteSums& sums, int64_t first, const BytePanel& panel, int64_t place) {
  int32_t sum[kMostMaps];
  std::copy_n(sums.start + first, kMostMaps, sum);
  const uint8_t* const pixel = sums.x + sums.x_at[place];
  const auto* w = reinterpret_cast<const int8_t*>(sums.of_panel(panel));
  for (int64_t i = 0; i < sums.rows * sums.columns; ++i) {
    const uint8_t* x = pixel + sums.tap_at(i / sums.columns, i % sums.columns);
    for (int64_t unit = 0; unit < sums.units; ++unit, x += kUnitBytes, w += kMostMaps * kUnitBytes) add_unit(x, w, sum);
  }
  const auto* const extra_at = reinterpret_cast<const int32_t*>(w + panel.extras[0] * kMostMaps * kUnitBytes);
  for (int64_t i = 0; i < panel.extras[0]; ++i, w += kMostMaps * kUnitBytes) add_unit(pixel + extra_at[i], w, sum);
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
  for (int64_t map = 0; map < sums.maps; map += kMostMaps) {
    for (int64_t place = 0; place < sums.count; ++place) sum_panel(sums, map, sums.panels[map / kMostMaps], place);
  }
}

int64_t panel_of(int64_t) { return kMostMaps; }
int64_t vector_of_target() { return kMostMaps; }
int64_t place_in_panel(int64_t, int64_t map) { return map; }

#endif

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(sum_any);
HWY_EXPORT(panel_of);
HWY_EXPORT(vector_of_target);
HWY_EXPORT(place_in_panel);

}  // namespace

int64_t byte_panel_maps(int64_t left) { return HWY_DYNAMIC_DISPATCH(panel_of)(left); }

int64_t byte_vector_maps() { return HWY_DYNAMIC_DISPATCH(vector_of_target)(); }

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
