#pragma once

#include <cstdint>

#include "convlab/simt/tile_phases.h"
#include "convlab/simt/where.h"

namespace convlab::simt {

/// Waits for all threads of the running thread's tile. Each passes a value that it shares with its warp, and gets those
/// of the tile's warps, in their order. `orders`: what each has done happens before what all do next.
void exchange_in_tile(unsigned threads, bool orders, uint64_t value, uint64_t* of_warps, Where where) noexcept;

}  // namespace convlab::simt
