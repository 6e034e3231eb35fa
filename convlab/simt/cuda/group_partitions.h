#pragma once

#include <type_traits>

#include "convlab/simt/cuda/thread_groups.h"
#include "convlab/simt/cuda/wide_tiles.h"

/// Cooperative groups: groups made of others.
namespace convlab::simt::cuda::cooperative_groups {

/// Returns the lanes of the warp that reach this line together. simt answers when no other lane of the warp can run, so
/// that the group is as large as the program lets it be; a GPU may return fewer lanes.
inline coalesced_group coalesced_threads(Where where = Where::current()) {
  return group_access::make<coalesced_group>(__activemask(where), 0, 1);
}

/// Returns the running thread's tile of `Size` threads. As in CUDA, the parent is a block or a tile of at least this
/// size.
template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  static_assert(!std::is_same_v<Parent, coalesced_group>,
                "tiled_partition<Size>: for a coalesced group use tiled_partition(group, size)");
  constexpr bool kOfTile = is_wide_tile<Parent> || (is_lane_group<Parent> && !std::is_same_v<Parent, coalesced_group>);
  static_assert(std::is_base_of_v<thread_block, Parent> || is_lane_group<Parent> || kOfTile,
                "tiled_partition: the parent must be a thread_block or a tile");
  if constexpr (kOfTile) {
    static_assert(Parent::size() >= Size, "tiled_partition: the tile must not be larger than its parent");
  }
  const unsigned threads = parent.num_threads();
  return group_access::make<thread_block_tile<Size, Parent>>(Size > 32 ? Size : lanes::tile_around(Size),
                                                             parent.thread_rank() / Size, (threads + Size - 1) / Size);
}

/// The same for a size known at run time: a power of two up to 32.
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  const unsigned mask = group_access::mask(parent), tile = parent.thread_rank() / size;
  unsigned own = 0, rank = 0;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1, ++rank) {
    if (rank / size == tile) own |= rest & -rest;
  }
  return group_access::make<coalesced_group>(own, tile, (parent.num_threads() + size - 1) / size);
}
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  const unsigned around = lanes::tile_around(size);
  return thread_group(thread_group::Kind::lanes,
                      parent.kind_ == thread_group::Kind::lanes ? around & parent.mask_ : around);
}
inline thread_group tiled_partition(const thread_block& parent, unsigned size) {
  return tiled_partition(static_cast<const thread_group&>(parent), size);
}

/// Returns the threads of the group whose predicates are equal to the running thread's.
template <class Group>
coalesced_group binary_partition(const Group& group, bool predicate, Where where = Where::current()) {
  static_assert(is_lane_group<Group>, "binary_partition: the group must be a tile or a coalesced group");
  const unsigned mask = group_access::mask(group), set = __ballot_sync(mask, predicate, where);
  if (set == 0 || (mask & ~set) == 0) return group_access::make<coalesced_group>(mask, 0, 1);
  return group_access::make<coalesced_group>(predicate ? set : mask & ~set, predicate, 2);
}

/// Returns the threads of the group with the running thread's label.
template <class Group, class Label>
coalesced_group labeled_partition(const Group& group, Label label, Where where = Where::current()) {
  static_assert(is_lane_group<Group>, "labeled_partition: the group must be a tile or a coalesced group");
  static_assert(std::is_integral_v<Label> || std::is_pointer_v<Label>,
                "labeled_partition: the label must be an integer or a pointer");
  if constexpr (std::is_same_v<Label, bool>) {
    return binary_partition(group, label, where);
  } else {
    const unsigned mask = group_access::mask(group), own = lanes::matching(mask, label, where);
    const unsigned first = own & -own;
    const unsigned firsts = __ballot_sync(mask, first == 1u << lanes::own_lane(), where);
    return group_access::make<coalesced_group>(own, static_cast<unsigned>(std::popcount(firsts & (first - 1))),
                                               static_cast<unsigned>(std::popcount(firsts)));
  }
}

}  // namespace convlab::simt::cuda::cooperative_groups
