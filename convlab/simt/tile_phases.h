#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace convlab::simt {

/// Tiles of cooperative groups with more threads than a warp: 64 to kMostTileThreads consecutive threads of a block.
inline constexpr unsigned kMostTileThreads = 1024;

namespace internal {

/// The tiles of a running block. A thread that leaves a phase may begin the next one while others still read the values
/// of this one, so two phases have values of their own.
struct TilePhases {
  static constexpr unsigned kMostWarps = kMostTileThreads / 32;
  struct Tile {
    uint32_t arrived = 0, phase = 0;
    uint64_t values[2][kMostWarps] = {};
  };
  bool in_use = false;
  Tile tiles[2 * kMostTileThreads / 64];  ///< [i]: the tile of a binary tree whose root, 1, has all threads

  void begin_block() {
    if (in_use) std::fill(std::begin(tiles), std::end(tiles), Tile{});
    in_use = false;
  }
};

}  // namespace internal
}  // namespace convlab::simt
