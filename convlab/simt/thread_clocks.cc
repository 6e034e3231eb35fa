// Keeps vector clocks of a block's threads, and of the addresses through which they release and acquire.

#include "convlab/simt/thread_clocks.h"

#include <algorithm>
#include <bit>

namespace convlab::simt::internal {

void ThreadClocks::restart() {
  if (!in_use_) return;
  in_use_ = false;
  partial_warps_ = 0;
  clocks_.clear();
  at_fence_.clear();
  objects_.clear();
}

bool ThreadClocks::ordered(const AccessRecord& record, const AccessRecord& now) const {
  if (!in_use_) return false;
  const bool alone = (record.lanes & (record.lanes - 1)) == 0;
  const bool is_lower_bound = !alone && (partial_warps_ >> record.warp & 1) != 0;
  for (LaneMask mine = now.lanes; mine != 0; mine &= mine - 1) {
    const size_t self = now.warp * 32 + static_cast<size_t>(std::countr_zero(mine));
    for (LaneMask others = record.lanes; others != 0; others &= others - 1) {
      const size_t other = record.warp * 32 + static_cast<size_t>(std::countr_zero(others));
      if (other == self) continue;
      if (self >= clocks_.size() || other >= clocks_[self].stamps.size()) return false;
      if (clocks_[self].stamps[other] < (is_lower_bound ? 1 : record.stamp)) return false;
    }
  }
  return true;
}

void ThreadClocks::release(int thread, const WarpClock& warp, uintptr_t object) {
  in_use_ = true;
  Clock& self = clock_of(thread);
  const int lane = thread % 32, first = thread - lane;
  if (warp.partial) partial_warps_ |= 1u << (thread / 32);
  for (int i = 0; i < 32; ++i) {
    const uint32_t seen = std::max(warp.ordered_through, warp.partial ? warp.seen[lane][i] : 0);
    raise(self, first + i, i == lane ? warp.stamp_of(lane) : seen);
  }
  join(objects_[object], self);
  if (object != kAnyAddress) join(objects_[kAnyAddress], self);
}

void ThreadClocks::release_until(int thread, uint32_t stamp, uintptr_t object) {
  in_use_ = true;
  raise(objects_[object], thread, stamp);
}

void ThreadClocks::acquire(int thread, uintptr_t object) {
  if (!in_use_) return;
  if (const auto found = objects_.find(object); found != objects_.end()) join(clock_of(thread), found->second);
}

void ThreadClocks::acquire_at_fence(int thread, uintptr_t object) {
  if (!in_use_) return;
  const auto found = objects_.find(object);
  if (found == objects_.end()) return;
  const auto index = static_cast<size_t>(thread);
  if (at_fence_.size() <= index) at_fence_.resize(index + 1);
  join(at_fence_[index], found->second);
}

void ThreadClocks::fence(int thread) {
  const auto index = static_cast<size_t>(thread);
  if (index < at_fence_.size()) join(clock_of(thread), at_fence_[index]);
}

void ThreadClocks::share(int first_thread, LaneMask lanes) {
  if (!in_use_) return;
  Clock all;
  bool differ = false;
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const Clock& each = clock_of(first_thread + std::countr_zero(left));
    differ = differ || (left != lanes && each.version != all.version);
    join(all, each);
  }
  if (!differ) return;
  for (LaneMask left = lanes; left != 0; left &= left - 1) clock_of(first_thread + std::countr_zero(left)) = all;
}

void ThreadClocks::join(Clock& clock, const Clock& other) {
  if (clock.version == other.version || other.version == 0) return;
  if (clock.version == 0) {
    clock = other;
    return;
  }
  if (clock.stamps.size() < other.stamps.size()) clock.stamps.resize(other.stamps.size());
  bool changed = false;
  for (size_t i = 0; i < other.stamps.size(); ++i) {
    changed |= clock.stamps[i] < other.stamps[i];
    clock.stamps[i] = std::max(clock.stamps[i], other.stamps[i]);
  }
  if (changed) clock.version = ++versions_;
}

void ThreadClocks::raise(Clock& clock, int thread, uint32_t stamp) {
  const auto index = static_cast<size_t>(thread);
  if (stamp == 0 || (index < clock.stamps.size() && clock.stamps[index] >= stamp)) return;
  if (clock.stamps.size() <= index) clock.stamps.resize(index + 1);
  clock.stamps[index] = stamp;
  clock.version = ++versions_;
}

ThreadClocks::Clock& ThreadClocks::clock_of(int thread) {
  const auto index = static_cast<size_t>(thread);
  if (clocks_.size() <= index) clocks_.resize(index + 1);
  return clocks_[index];
}

}  // namespace convlab::simt::internal
