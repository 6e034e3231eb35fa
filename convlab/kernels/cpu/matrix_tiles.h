#pragma once

#include <algorithm>
#include <cstdint>

#include "convlab/base/checked.h"

namespace convlab {

// Matrices as Intel's AMX multiplies them, by itself or imitated: a tile is 1 KiB, up to 16 rows of 64 bytes. C is rows
// x 16 sums; A is rows x `depth` units of terms; B is depth rows of 16 units, one for each column of C. A unit is four
// bytes: two numbers of 16 bits, or four of 8.

/// Sizes of all tiles of a job: rows of A and C, and rows of B. At most 16.
struct TileShape {
  int rows = 16, depth = 16;
};

inline constexpr int64_t kTileRows = 16;
inline constexpr int64_t kTileBytes = 1024;
inline constexpr int64_t kUnitBytes = 4;

/// How `count` consecutive units are cut into tiles of equally many. Where that leaves a remainder, the last tile
/// begins earlier: its first units are a tile's already, and have weights of 0 in it. (They are terms of the same sums,
/// so that a NaN among them gets nowhere new.)
struct TermTiles {
  int64_t count = 0, tiles = 0, depth = 0;

  explicit TermTiles(int64_t units) : count(units), tiles(ceil_div(units, kTileRows)), depth(ceil_div(units, tiles)) {}

  int64_t first(int64_t tile) const { return std::min(tile * depth, count - depth); }
  /// Whether unit `l` of the tile is one of the tile before, too.
  bool is_again(int64_t tile, int64_t l) const { return first(tile) + l < tile * depth; }

  /// Units of all tiles, and where among them one of `count` has its weights.
  int64_t held() const { return tiles * depth; }
  int64_t place(int64_t unit) const {
    const int64_t tile = unit / depth;
    return tile * depth + unit - first(tile);
  }
};

}  // namespace convlab
