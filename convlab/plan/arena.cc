#include "convlab/plan/arena.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

#include "convlab/base/checked.h"

namespace convlab {
namespace {

struct Taken {
  int64_t begin, end;
};

/// The smallest gap between `taken` (in order of begin) that holds `bytes`, else the place after all of them.
int64_t best_place(const std::vector<Taken>& taken, int64_t bytes) {
  int64_t free_from = 0, best = -1, best_gap = std::numeric_limits<int64_t>::max();
  for (const Taken& each : taken) {
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
  std::vector<size_t> placed;
  for (size_t each : order) {
    const Lifetime& life = lifetimes[each];
    const int64_t bytes = checked_add(life.bytes, kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
    std::vector<Taken> taken;
    for (size_t other : placed) {
      if (lifetimes[other].first > life.last || lifetimes[other].last < life.first) continue;
      taken.push_back({arena.at[other], arena.at[other] + round_up(lifetimes[other].bytes, kArenaAlignment)});
    }
    std::sort(taken.begin(), taken.end(), [](const Taken& a, const Taken& b) { return a.begin < b.begin; });
    arena.at[each] = best_place(taken, bytes);
    arena.bytes = std::max(arena.bytes, checked_add(arena.at[each], bytes));
    placed.push_back(each);
  }
  return arena;
}

}  // namespace convlab
