// Packs scratch memory with known lifetimes into one arena.

#include "convlab/plan/arena.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

#include "convlab/base/checked.h"

namespace convlab {
namespace {

struct Placed {
  int64_t begin, end;   ///< byte range
  int64_t first, last;  ///< step range
};

/// Returns the offset of the smallest gap that holds `bytes` between the entries of `placed` (sorted by begin) that
/// share a step with `life`. If there is none, returns the offset after all of them.
int64_t best_offset(const std::vector<Placed>& placed, const Lifetime& life, int64_t bytes) {
  int64_t free_from = 0, best = -1, best_gap = std::numeric_limits<int64_t>::max();
  for (const Placed& each : placed) {
    if (each.first > life.last || each.last < life.first) continue;
    const int64_t gap = each.begin - free_from;
    if (gap >= bytes && gap < best_gap) {
      best = free_from;
      best_gap = gap;
    }
    free_from = std::max(free_from, each.end);
  }
  return best >= 0 ? best : free_from;
}

}  // namespace

Arena pack_arena(const std::vector<Lifetime>& lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });

  Arena arena{.at = std::vector<int64_t>(lifetimes.size(), 0)};
  std::vector<Placed> placed;
  for (size_t each : order) {
    const Lifetime& life = lifetimes[each];
    const int64_t bytes = checked_add(life.bytes, kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
    const int64_t begin = best_offset(placed, life, bytes), end = checked_add(begin, bytes);
    arena.at[each] = begin;
    arena.bytes = std::max(arena.bytes, end);
    const auto after = std::ranges::upper_bound(placed, begin, {}, &Placed::begin);
    placed.insert(after, {begin, end, life.first, life.last});
  }
  return arena;
}

}  // namespace convlab
