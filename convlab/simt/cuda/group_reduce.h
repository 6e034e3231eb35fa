#pragma once

#include <type_traits>

#include "convlab/simt/cuda/group_operators.h"
#include "convlab/simt/cuda/group_scan.h"
#include "convlab/simt/cuda/thread_groups.h"
#include "convlab/simt/cuda/wide_tiles.h"

/// Cooperative groups: <cooperative_groups/reduce.h>. Values are combined in the same order as on a GPU, so that
/// floating-point results have the same bits.
namespace convlab::simt::cuda::cooperative_groups {

/// Returns the combination of the values of all threads of the group, to each of them. As on a GPU it orders no memory.
/// Inlined, as the scans are: a finding at the read of `value` then shows the caller's line.
template <class Group, class T, class Operator>
[[gnu::always_inline]] inline auto reduce(const Group& group, T&& value, Operator&& op, Where where = Where::current())
    -> decltype(op(value, value)) {
  static_assert(is_lane_group<Group> || is_wide_tile<Group>, "reduce: the group must be a tile or a coalesced group");
  std::remove_cvref_t<T> result = value;
  if constexpr (is_wide_tile<Group>) {
    result = reduce(wide_collectives::warp(group), result, op, where);
    return wide_collectives::reduce(group, result, op, where);
  } else if constexpr (!is_lane_group<Group>) {
    return result;
  } else if constexpr (requires { group.shfl_xor(result, 1u); }) {
    for (unsigned distance = Group::size() / 2; distance > 0; distance /= 2) {
      result = op(result, group.shfl_xor(result, distance, where));
    }
    return result;
  } else {
    const unsigned size = group.num_threads();
    if (size < 32) return group.shfl(inclusive_scan(group, value, op, where), static_cast<int>(size) - 1, where);
    for (unsigned distance = 16; distance > 0; distance /= 2) {
      const unsigned other = group.thread_rank() ^ distance;
      result = op(result, group.shfl(result, static_cast<int>(other), where));
    }
    return result;
  }
}

/// Reduces, and stores the result in memory or a cuda::atomic. Others see it after the group's next sync().
template <class Group, class Target, class T, class Operator>
void reduce_store_async(const Group& group, Target&& target, T&& value, Operator&& op) {
  const auto result = reduce(group, value, op);
  if (group.thread_rank() != 0) return;
  if constexpr (std::is_pointer_v<std::remove_cvref_t<Target>>) {
    *target = result;
  } else {
    target.store(result);
  }
}

/// Reduces, and combines the result with the value of a cuda::atomic.
template <class Group, class Atomic, class T, class Operator>
void reduce_update_async(const Group& group, Atomic&& atomic, T&& value, Operator&& op) {
  const auto result = reduce(group, value, op);
  if (group.thread_rank() == 0) update_atomic(atomic, result, op);
}

}  // namespace convlab::simt::cuda::cooperative_groups
