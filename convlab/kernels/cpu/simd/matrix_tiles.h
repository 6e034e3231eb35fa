#pragma once

#include <algorithm>
#include <cstdint>

#include "convlab/base/checked.h"

namespace convlab {

// Matrices as Intel's AMX multiplies them, in hardware or emulated: a tile is 1 KiB, up to 16 rows of 64 bytes. C is
// rows x 16 sums; A is rows x `depth` units of the K dimension; B is depth rows of 16 units, one for each column of C.
// A unit is four bytes: two 16-bit numbers, or four 8-bit numbers.

/// Tile sizes of a job: rows of A and C, and rows of B. At most 16.
struct TileShape {
  int rows = 16, depth = 16;
};

inline constexpr int64_t kTileRows = 16;
inline constexpr int64_t kTileBytes = 1024;
inline constexpr int64_t kUnitBytes = 4;

/// Splits `count` consecutive units of the K dimension into tiles of equal depth. If a remainder is left, the last tile
/// begins earlier and overlaps the one before; the units in both have weights of 0 in the last tile. (They belong to
/// the same sums, so a NaN among them reaches no other output.)
struct TermTiles {
  int64_t count = 0, tiles = 0, depth = 0;

  explicit TermTiles(int64_t units) : count(units), tiles(ceil_div(units, kTileRows)), depth(ceil_div(units, tiles)) {}

  int64_t first(int64_t tile) const { return std::min(tile * depth, count - depth); }
  /// Whether unit `l` of the tile is also in the tile before.
  bool is_again(int64_t tile, int64_t l) const { return first(tile) + l < tile * depth; }

  /// The units of all tiles, and the index among them at which one of `count` has its weights.
  int64_t held() const { return tiles * depth; }
  int64_t place(int64_t unit) const {
    const int64_t tile = unit / depth;
    return tile * depth + unit - first(tile);
  }
};

}  // namespace convlab
