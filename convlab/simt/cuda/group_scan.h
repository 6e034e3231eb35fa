#pragma once

#include <type_traits>
#include <utility>

#include "convlab/simt/cuda/group_operators.h"
#include "convlab/simt/cuda/thread_groups.h"
#include "convlab/simt/cuda/wide_tiles.h"

/// Cooperative groups: <cooperative_groups/scan.h>. Values are combined in the order of ranks, in log2(size) steps as
/// on a GPU, so that floating-point results have the same bits.
namespace convlab::simt::cuda::cooperative_groups {

/// Returns the combination of the values of the threads with this rank and lower ones.
template <class Group, class T, class Operator>
[[gnu::always_inline]] inline auto inclusive_scan(const Group& group, T&& value, Operator&& op,
                                                  Where where = Where::current()) -> decltype(op(value, value)) {
  static_assert(is_lane_group<Group> || is_wide_tile<Group>,
                "inclusive_scan, exclusive_scan: the group must be a tile or a coalesced group");
  std::remove_cvref_t<T> sum = value;
  const unsigned rank = group.thread_rank(), size = group.num_threads();
  if constexpr (is_wide_tile<Group>) {
    sum = inclusive_scan(wide_collectives::warp(group), sum, op, where);
    const auto before = wide_collectives::before_warp(group, sum, op, where);
    if (rank >= 32) sum = op(sum, before);
  } else if constexpr (is_lane_group<Group>) {
    for (unsigned distance = 1; distance < size; distance *= 2) {
      const auto other = group.shfl_up(sum, distance, where);
      if (rank >= distance) sum = op(sum, other);
    }
  }
  return sum;
}
template <class Group, class T>
[[gnu::always_inline]] inline std::remove_cvref_t<T> inclusive_scan(const Group& group, T&& value) {
  return inclusive_scan(group, value, plus<std::remove_cvref_t<T>>());
}

/// Returns the combination of the values of the threads with lower ranks: T{} for rank 0, whatever the operator.
template <class Group, class T, class Operator>
[[gnu::always_inline]] inline auto exclusive_scan(const Group& group, T&& value, Operator&& op,
                                                  Where where = Where::current()) -> decltype(op(value, value)) {
  using Value = std::remove_cvref_t<T>;
  const unsigned rank = group.thread_rank();
  if constexpr (is_wide_tile<Group>) {
    const auto warp = wide_collectives::warp(group);
    const Value sum = inclusive_scan(warp, value, op, where);
    const Value before = wide_collectives::before_warp(group, sum, op, where), lower = warp.shfl_up(sum, 1, where);
    return rank % 32 == 0 ? before : rank < 32 ? lower : op(lower, before);
  } else {
    const auto sum = inclusive_scan(group, value, op, where);
    const auto before = group.shfl_up(sum, 1, where);
    return rank == 0 ? Value{} : before;
  }
}
template <class Group, class T>
[[gnu::always_inline]] inline std::remove_cvref_t<T> exclusive_scan(const Group& group, T&& value) {
  return exclusive_scan(group, value, plus<std::remove_cvref_t<T>>());
}

/// The scan of a sum that goes on over several groups: updates the cuda::atomic with the group's total, and returns the
/// scan combined with the atomic's value before that.
template <class Group, class Atomic, class T, class Operator>
auto inclusive_scan_update(const Group& group, Atomic&& atomic, T&& value, Operator&& op)
    -> decltype(op(value, value)) {
  static_assert(!is_wide_tile<Group>, "inclusive_scan_update, exclusive_scan_update: simt supports up to 32 threads");
  const auto sum = inclusive_scan(group, value, op);
  std::remove_const_t<decltype(sum)> before{};
  const unsigned last = group.num_threads() - 1;
  if (group.thread_rank() == last) before = update_atomic(atomic, sum, op);
  return op(group.shfl(before, static_cast<int>(last)), sum);
}
template <class Group, class Atomic, class T>
auto inclusive_scan_update(const Group& group, Atomic&& atomic, T&& value) {
  return inclusive_scan_update(group, atomic, value, plus<std::remove_cvref_t<T>>());
}
template <class Group, class Atomic, class T, class Operator>
auto exclusive_scan_update(const Group& group, Atomic&& atomic, T&& value, Operator&& op)
    -> decltype(op(value, value)) {
  static_assert(!is_wide_tile<Group>, "inclusive_scan_update, exclusive_scan_update: simt supports up to 32 threads");
  const auto sum = inclusive_scan(group, value, op);
  std::remove_const_t<decltype(sum)> before{};
  const unsigned last = group.num_threads() - 1, rank = group.thread_rank();
  if (rank == last) before = update_atomic(atomic, sum, op);
  before = group.shfl(before, static_cast<int>(last));
  const auto lower = group.shfl_up(sum, 1);
  return rank == 0 ? before : op(before, lower);
}
template <class Group, class Atomic, class T>
auto exclusive_scan_update(const Group& group, Atomic&& atomic, T&& value) {
  return exclusive_scan_update(group, atomic, value, plus<std::remove_cvref_t<T>>());
}

}  // namespace convlab::simt::cuda::cooperative_groups
