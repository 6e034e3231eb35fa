// Orders the lanes of a warp by __syncwarp.

#include "convlab/simt/warp_clock.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace convlab::simt::internal {

uint32_t WarpClock::next_stamp(int lane) {
  const uint32_t next = stamp_of(lane) + 1;
  if (!released) std::fill(std::begin(after_release), std::end(after_release), 0u);
  released = true;
  return after_release[lane] = next;
}

void WarpClock::synchronize(LaneMask mask, LaneMask whole) {
  for (int lane = 0; lane < 32; ++lane) stamp = stamp_of(lane);
  if (mask == whole) {
    ordered_through = stamp++;
    partial = false;
    return;
  }
  if (!partial) {
    std::fill(&seen[0][0], &seen[0][0] + 32 * 32, 0u);
    partial = true;
  }
  uint32_t joined[32];
  for (int j = 0; j < 32; ++j) {
    uint32_t latest = mask >> j & 1 ? stamp : 0;
    for (int i = 0; i < 32; ++i) {
      if (mask >> i & 1) latest = std::max(latest, seen[i][j]);
    }
    joined[j] = latest;
  }
  for (int i = 0; i < 32; ++i) {
    if (mask >> i & 1) std::copy(joined, joined + 32, seen[i]);
  }
  ++stamp;
}

bool WarpClock::ordered(const AccessRecord& record, LaneMask lanes) const {
  if (record.stamp <= ordered_through) return true;
  for (LaneMask mine = lanes; mine != 0; mine &= mine - 1) {
    const int i = std::countr_zero(mine);
    for (LaneMask others = record.lanes & ~(1u << i); others != 0; others &= others - 1) {
      if (!partial || seen[i][std::countr_zero(others)] < record.stamp) return false;
    }
  }
  return true;
}

}  // namespace convlab::simt::internal
