// Sums of products with output channels in the lanes, in tiles: the arithmetic of convolutions in layouts where a
// pixel's channels are contiguous.
//
//   sum[j][m] = sum over rows r, columns s and units u of x[x_at[j] + tap_at(r, s) + u] * w[r][s][u][m]
//
// for positions j and output channels m, in panels of 32. A tile A is up to 16 positions x up to 16 units, loaded in
// place; two of them times two tiles B of 16 output channels: four loads for four multiplications.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_TILE_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_TILE_SUMS_INL_H_
#undef CONVLAB_KERNELS_CPU_TILE_SUMS_INL_H_
#else
#define CONVLAB_KERNELS_CPU_TILE_SUMS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/simd/amx_tiles-inl.h"
#include "convlab/kernels/cpu/simd/map_panels.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// Sums in memory, 16 output channels of a position together.
template <class Sum>
struct PlaceSums {
  const Sum* first = nullptr;
  int64_t place_step = 0, tile_step = 0;  ///< sums between positions, and between groups of 16 output channels
};

/// Sums in tiles of up to 32 positions and a panel. While some are computed, those before are finished from memory, a
/// few between tile multiplications.
///
/// `Tiles` multiplies, and has `Sum`. `Sums` describes the operands: x, x_at, y_at (negative: the position has no
/// output), count, place_step, row_places, rows, columns, tap_at(row, column), w and maps, counted in elements of x.
/// `End` is the epilogue: it is constructed from Sums and a panel's first output channel, and has
/// finish_places(PlaceSums, y_at, count), which is fastest with kTogether positions at once.
template <class Tiles, class Sums, class End>
class TileSums {
 public:
  /// A row has row_places positions that are place_step apart, or fewer at the end; if it has fewer than `tile_places`,
  /// what follows it in memory is read, too.
  TileSums(const Sums& sums, const TermTiles& terms, int64_t tile_places)
      : sums_(sums),
        terms_(terms),
        steps_(sums.rows * sums.columns * terms.tiles),
        places_(tile_places),
        tiles_({.rows = static_cast<int>(tile_places), .depth = static_cast<int>(terms.depth)}) {}

  void compute() {
    int64_t panel = 0;
    const int64_t map_bytes = steps_ * terms_.depth * kUnitBytes;
    const int64_t row_places = std::min(sums_.row_places, sums_.count);
    const int64_t steps = steps_ * ceil_div(sums_.count, row_places) * ceil_div(row_places, 2 * places_);
    for_panels(sums_.maps, sums_.w, map_bytes, [&](int64_t map, int64_t maps, const Element* w, int64_t next) HWY_ATTR {
      End& end = ends_[panel++ % 2];  // the last sums of the other one may be unfinished
      end = End(sums_, map);
      WeightsAhead ahead(w + maps * map_bytes / kElementBytes, next, steps);
      maps == kPanelMaps ? compute_panel<2>(w, ahead, end) : compute_panel<1>(w, ahead, end);
    });
    finish_some(2 * places_);
  }

 private:
  using Element = std::remove_cvref_t<decltype(*Sums::x)>;
  using Sum = typename Tiles::Sum;
  static constexpr int64_t kElementBytes = sizeof(Element);
  static constexpr int64_t kTileSums = kTileBytes / static_cast<int64_t>(sizeof(Sum));

  /// Sums in memory that are not finished yet: up to two tiles of positions, each with kN tiles of output channels.
  struct Waiting {
    const Sum* from = nullptr;
    const int32_t* y_at[2] = {};
    int64_t before[2] = {};  ///< leading positions that the tile before finishes
    int64_t places = 0;      ///< in both tiles
    int64_t finished = 0;    ///< how many of them are finished
    const End* end = nullptr;
  };

  /// If the last tile of a row would not be full, it begins earlier and overlaps the one before.
  template <int kN>
  void compute_panel(const Element* w, WeightsAhead& ahead, const End& end) {
    for (int64_t place = 0; place < sums_.count;) {
      const int64_t row_end = std::min(place + sums_.row_places, sums_.count);
      const int64_t last = std::max(place, row_end - places_);
      for (; place < row_end; place += 2 * places_) {
        const int64_t second = std::min(place + places_, last);
        if (place < last) {
          add<2, kN>({place, second}, {0, place + places_ - second}, row_end, w, ahead, end);
        } else {
          add<1, kN>({last, last}, {place - last, 0}, row_end, w, ahead, end);
        }
      }
      place = row_end;
    }
  }

  template <int kM, int kN>
  HWY_INLINE void add(const int64_t (&places)[2], const int64_t (&before)[2], int64_t row_end, const Element* w,
                      WeightsAhead& shared_ahead, const End& end) {
    tiles_.template zero<0>();
    if constexpr (kN > 1) tiles_.template zero<1>();
    if constexpr (kM > 1) tiles_.template zero<2>();
    if constexpr (kM > 1 && kN > 1) tiles_.template zero<3>();
    const Element *const upper = sums_.x + sums_.x_at[places[0]], *const lower = sums_.x + sums_.x_at[places[1]];
    constexpr int64_t kUnit = kN * kTileRow;  // bytes of a unit's weights
    constexpr int64_t kUnitElements = kUnitBytes / kElementBytes;
    const int64_t place_bytes = kElementBytes * sums_.place_step, w_step = terms_.depth * kUnit / kElementBytes;
    // Positions that each step finishes.
    const int64_t each = round_up(ceil_div(waiting_.places - waiting_.finished, steps_), End::kTogether);
    WeightsAhead ahead = shared_ahead;
    for (int64_t row = 0; row < sums_.rows; ++row) {
      for (int64_t column = 0; column < sums_.columns; ++column) {
        const int64_t first = sums_.tap_at(row, column);
        for (int64_t tile = 0; tile < terms_.tiles; ++tile, w += w_step) {
          const int64_t at = first + kUnitElements * terms_.first(tile);
          tiles_.template load<6>(w, kUnit);
          tiles_.template load<4>(upper + at, place_bytes);
          tiles_.template multiply<0, 4, 6>();
          if constexpr (kN > 1) {
            tiles_.template load<7>(w + kTileRow / kElementBytes, kUnit);
            tiles_.template multiply<1, 4, 7>();
          }
          if constexpr (kM > 1) {
            tiles_.template load<5>(lower + at, place_bytes);
            tiles_.template multiply<2, 5, 6>();
            if constexpr (kN > 1) tiles_.template multiply<3, 5, 7>();
          }
          ahead.fetch();
          finish_some(each);
        }
      }
    }
    shared_ahead = ahead;
    Sum* const to = memory_[turn_];
    tiles_.template store<0>(to);
    if constexpr (kN > 1) tiles_.template store<1>(to + kTileSums);
    if constexpr (kM > 1) tiles_.template store<2>(to + 2 * kTileSums);
    if constexpr (kM > 1 && kN > 1) tiles_.template store<3>(to + 3 * kTileSums);
    const int64_t count = std::min(places_, row_end - places[0]);  // fewer only if there is just one tile
    waiting_ = {.from = to,
                .y_at = {sums_.y_at + places[0], sums_.y_at + places[1]},
                .before = {before[0], before[1]},
                .places = (kM - 1) * places_ + count,
                .end = &end};
    turn_ = 1 - turn_;
  }

  /// Finishes up to `most` of the waiting positions.
  HWY_INLINE void finish_some(int64_t most) {
    const int64_t last = std::min(waiting_.places, waiting_.finished + most);
    while (waiting_.finished < last) {
      const int64_t tile = waiting_.finished < places_ ? 0 : 1, i = waiting_.finished - tile * places_;
      const int64_t count = std::min(places_ - i, last - waiting_.finished);
      const int64_t begin = std::max(i, waiting_.before[tile]), end = i + count;
      if (begin < end) {
        const PlaceSums<Sum> sums{waiting_.from + tile * 2 * kTileSums + begin * 16, 16, kTileSums};
        waiting_.end->finish_places(sums, waiting_.y_at[tile] + begin, end - begin);
      }
      waiting_.finished += count;
    }
  }

  const Sums& sums_;
  TermTiles terms_;
  int64_t steps_;   ///< tiles of the K dimension, over all rows and columns
  int64_t places_;  ///< positions of a tile
  Tiles tiles_;
  End ends_[2];  ///< of this panel and the one before
  Waiting waiting_;
  int turn_ = 0;  ///< index of the buffer in memory_ to use next
  HWY_ALIGN Sum memory_[2][4 * kTileSums];
};

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
