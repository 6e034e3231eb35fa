#pragma once

#include <type_traits>
#include <utility>

#include "convlab/simt/cuda/thread_groups.h"
#include "convlab/simt/cuda/wide_tiles.h"

/// Cooperative groups: calls by one thread of a group. simt chooses rank 0; a GPU may choose another thread.
namespace convlab::simt::cuda::cooperative_groups {

template <class Group, class Function, class... Arguments>
void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
}

/// Returns the call's result to all threads of a tile or coalesced group.
template <class Group, class Function, class... Arguments>
auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments) {
  using Result = std::remove_cvref_t<decltype(function(std::forward<Arguments>(arguments)...))>;
  static_assert(is_lane_group<Group> || is_wide_tile<Group>,
                "invoke_one_broadcast: the group must be a tile or a coalesced group");
  static_assert(!std::is_void_v<Result>, "invoke_one_broadcast: the function must return a value; use invoke_one");
  Result result{};
  if (group.thread_rank() == 0) result = std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
  return group.shfl(result, 0);
}

}  // namespace convlab::simt::cuda::cooperative_groups
