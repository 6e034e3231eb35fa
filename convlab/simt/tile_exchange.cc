// Lets the threads of a tile with several warps wait for each other and exchange a value per warp.

#include "convlab/simt/tile_exchange.h"

#include <algorithm>

#include "convlab/simt/warp.h"
#include "convlab/simt/worker.h"

namespace convlab::simt {

namespace {

void exchange(internal::Worker& worker, unsigned threads, bool orders, uint64_t value, uint64_t* of_warps,
              Where where) {
  const auto thread = static_cast<unsigned>(worker.current_number());
  worker.tiles.in_use = true;
  internal::TilePhases::Tile& tile = worker.tiles.tiles[kMostTileThreads / threads + thread / threads];
  const uint32_t phase = tile.phase;
  const uintptr_t object = reinterpret_cast<uintptr_t>(&tile);
  uint64_t* const values = tile.values[phase % 2];
  values[thread % threads / kWarpSize] = value;
  if (orders) worker.release(object);
  if (++tile.arrived == threads) {
    tile.arrived = 0;
    ++tile.phase;
  }
  for (bool again = false; tile.phase == phase; again = true) worker.wait_for_thread(true, again, where);
  if (orders) worker.clocks.acquire(static_cast<int>(thread), object);
  std::copy_n(values, threads / kWarpSize, of_warps);
}

}  // namespace

void exchange_in_tile(unsigned threads, bool orders, uint64_t value, uint64_t* of_warps, Where where) noexcept {
  internal::Worker* const worker = internal::active_worker;
  if (!worker) return;
  if (static_cast<unsigned>(worker->grid->block_threads) % threads != 0) {
    fail_assertion("a block has a multiple of the threads of its tiles", where);
  }
  const internal::HostScope host;
  if (worker->attention) worker->settle_stores();
  exchange(*worker, threads, orders, value, of_warps, where);
}

}  // namespace convlab::simt
