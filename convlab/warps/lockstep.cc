// Merges the traces of a warp's lanes into the events of the warp.

#include "convlab/warps/lockstep.h"

#include <algorithm>
#include <utility>

namespace convlab {
namespace {

// A scheduling key. Its fields, from the highest bits: kMostDepth minus the call depth, the block's order, the event.
constexpr int kEventBits = 42, kOrderBits = 16;
constexpr uint64_t kMostDepth = (1 << (64 - kEventBits - kOrderBits)) - 1;
constexpr uint32_t kMostOrder = (1 << kOrderBits) - 1;

}  // namespace

// Returns the key of a lane in this block, at this call depth. Lanes with the lowest key go first.
uint64_t Lockstep::key_of(uint64_t event, const void* block, size_t depth) const {
  const EventKind kind = LaneTrace::kind_of(event);
  if (kind == EventKind::enter) ++depth;
  uint32_t order = 0;
  if (kind == EventKind::block) {
    order = flow_.order_of(block, LaneTrace::code_of(event));
  } else if (block) {
    order = flow_.order_of(block);
  }
  return (kMostDepth - std::min(uint64_t{depth}, kMostDepth)) << (kEventBits + kOrderBits) |
         uint64_t{std::min(order, kMostOrder)} << kEventBits | (event & ((uint64_t{1} << kEventBits) - 1));
}

// Ignores lanes that have no event left, for now or for good.
bool Lockstep::go_different_ways(const Group& group) {
  uint64_t way = LaneTrace::kEnd;
  for (int i = 0; i < group.size; ++i) {
    const uint64_t next = *group.at[i];
    if (next == LaneTrace::kEnd) continue;
    if (way != LaneTrace::kEnd && next != way) return true;
    way = next;
  }
  return false;
}

// Executes the group's next event, which is the same for all its lanes.
void Lockstep::step(Group& group) {
  const uint64_t event = *group.at[0];
  const EventKind kind = LaneTrace::kind_of(event);
  const void* const code = LaneTrace::code_of(event);
  if (is_access(kind)) {
    uintptr_t addresses[kLanes];
    for (int i = 0; i < group.size; ++i) addresses[i] = LaneTrace::address_of(group.at[i][1]);
    events_.access(kind, code, group.mask, {addresses, static_cast<size_t>(group.size)},
                   LaneTrace::bytes_of(group.at[0][1]));
    for (int i = 0; i < group.size; ++i) group.at[i] += 2;
    return;
  }
  for (int i = 0; i < group.size; ++i) ++group.at[i];
  if (kind == EventKind::block) {
    group.block = code;
    events_.block(code, group.mask);
  } else if (kind == EventKind::enter) {
    for (int i = 0; i < group.size; ++i) group.lanes[i]->callers.push_back(group.block);
    group.block = nullptr;
  }
}

void Lockstep::leave(Group& group) {
  for (int i = 0; i < group.size; ++i) {
    group.lanes[i]->block = group.lanes[i]->callers.back();
    group.lanes[i]->callers.pop_back();
  }
}

void Lockstep::advance(std::span<Lane> lanes, LaneMask unfinished) {
  flow_.sort();
  const uint64_t* at[kLanes] = {};
  LaneMask with_events = 0;
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    at[lane] = lanes[lane].trace.first();
    if (*at[lane] != LaneTrace::kEnd) with_events |= LaneMask{1} << lane;
  }

  while (with_events != 0 && (unfinished & ~with_events) == 0) {
    uint64_t keys[kLanes], first = UINT64_MAX, second = UINT64_MAX;
    for_each_lane(with_events, [&](int lane) {
      keys[lane] = key_of(*at[lane], lanes[lane].block, lanes[lane].callers.size());
      if (keys[lane] < first) second = std::exchange(first, keys[lane]);
      if (keys[lane] > first) second = std::min(second, keys[lane]);
    });
    Group group;
    for_each_lane(with_events, [&](int lane) {
      if (keys[lane] != first) return;
      group.mask |= LaneMask{1} << lane;
      group.lanes[group.size] = &lanes[lane];
      group.at[group.size++] = at[lane];
    });
    group.block = group.lanes[0]->block;
    // The lanes stay together until one diverges, has no event left, or meets others, or until a function ends, because
    // they may have been called from different places.
    for (bool together = true; together;) {
      const uint64_t event = *group.at[0];
      step(group);
      const uint64_t next = *group.at[0];
      bool same = true;
      for (int i = 1; i < group.size; ++i) same = same && *group.at[i] == next;
      if (!same && go_different_ways(group)) events_.diverged(LaneTrace::code_of(event));
      together = same && next != LaneTrace::kEnd && LaneTrace::kind_of(event) != EventKind::leave &&
                 key_of(next, group.block, group.lanes[0]->callers.size()) < second;
      if (LaneTrace::kind_of(event) == EventKind::leave) {
        leave(group);
      } else if (!together) {
        for (int i = 0; i < group.size; ++i) group.lanes[i]->block = group.block;
      }
    }
    for (int i = 0; i < group.size; ++i) {
      const auto lane = group.lanes[i] - lanes.data();
      at[lane] = group.at[i];
      if (*at[lane] == LaneTrace::kEnd) with_events &= ~(LaneMask{1} << lane);
    }
  }
  for (size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane].trace.forget_until(at[lane]);
}

}  // namespace convlab
