#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "convlab/simt/where.h"

namespace convlab::simt {

/// Tiles of cooperative groups with more threads than a warp: 64 to kMostTileThreads consecutive threads of a block.
inline constexpr unsigned kMostTileThreads = 1024;

/// Waits for all threads of the running thread's tile. Each passes a value that it shares with its warp, and gets those
/// of the tile's warps, in their order. `orders`: what each has done happens before what all do next.
void exchange_in_tile(unsigned threads, bool orders, uint64_t value, uint64_t* of_warps, Where where) noexcept;

namespace internal {

class Worker;

/// The tiles of a running block. A thread that leaves a phase may begin the next one while others still read the values
/// of this one, so two phases have values of their own.
class TileExchange {
 public:
  void begin_block() {
    if (in_use_) std::fill(std::begin(tiles_), std::end(tiles_), Tile{});
    in_use_ = false;
  }
  void exchange(Worker& worker, unsigned threads, bool orders, uint64_t value, uint64_t* of_warps, Where where);

 private:
  static constexpr unsigned kMostWarps = kMostTileThreads / 32;
  struct Tile {
    uint32_t arrived = 0, phase = 0;
    uint64_t values[2][kMostWarps] = {};
  };
  bool in_use_ = false;
  Tile tiles_[2 * kMostTileThreads / 64];  ///< [i]: the tile of a binary tree whose root, 1, has all threads
};

}  // namespace internal
}  // namespace convlab::simt
