#pragma once

#include <type_traits>

#include "convlab/simt/cuda/group_lanes.h"
#include "convlab/simt/grid_sync.h"
#include "convlab/simt/vector_types.h"
#include "convlab/simt/warp.h"
#include "convlab/simt/where.h"

/// Cooperative groups: the groups that every program uses. simt checks their operations as those that they stand for:
/// block.sync() as __syncthreads(), tile.sync() as __syncwarp(), tile.shfl() as __shfl_sync(). So shuffles, votes and
/// reductions order no memory, and threads of a tile that share memory need tile.sync().
///
/// Differences from CUDA: there are no clusters and no multi-device grids, and barrier_arrive() only notes
/// that barrier_wait() will wait: an access between the two counts as one before both.
namespace convlab::simt::cuda::cooperative_groups {

/// Any group: what all groups convert to.
class thread_group {
 public:
  void sync(Where where = Where::current()) const {
    switch (kind_) {
      case Kind::lanes:
        return __syncwarp(mask_, where);
      case Kind::block:
        return __syncthreads(where);
      case Kind::grid:
        return grid_barrier(where);
    }
  }
  unsigned long long num_threads() const {
    switch (kind_) {
      case Kind::lanes:
        return static_cast<unsigned>(std::popcount(mask_));
      case Kind::block:
        return lanes::threads_in_block();
      case Kind::grid:
        return grid_blocks() * lanes::threads_in_block();
    }
    return 0;
  }
  unsigned long long size() const { return num_threads(); }
  unsigned long long thread_rank() const {
    switch (kind_) {
      case Kind::lanes:
        return rank_in_mask();
      case Kind::block:
        return lanes::rank_in_block();
      case Kind::grid:
        return grid_block_rank() * lanes::threads_in_block() + lanes::rank_in_block();
    }
    return 0;
  }

 protected:
  enum class Kind : unsigned char { lanes, block, grid };
  constexpr explicit thread_group(Kind kind, unsigned mask = 0) : kind_(kind), mask_(mask) {}

  unsigned rank_in_mask() const {
    return static_cast<unsigned>(std::popcount(mask_ & lanes::below(lanes::own_lane())));
  }
  static unsigned long long grid_blocks() { return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z; }
  static unsigned long long grid_block_rank() {
    return blockIdx.x + gridDim.x * (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }

  Kind kind_;
  unsigned mask_;  ///< the lanes, of a group of lanes

 private:
  friend thread_group tiled_partition(const thread_group& parent, unsigned size);
};

/// Returned by barrier_arrive().
class arrival_token {
 private:
  arrival_token() = default;
  friend class thread_block;
  friend class grid_group;
};

/// All threads of the block.
class thread_block : public thread_group {
 public:
  using arrival_token = cooperative_groups::arrival_token;

  static void sync(Where where = Where::current()) { __syncthreads(where); }
  [[nodiscard]] arrival_token barrier_arrive() const { return {}; }
  void barrier_wait(arrival_token&&, Where where = Where::current()) const { sync(where); }

  static unsigned num_threads() { return lanes::threads_in_block(); }
  static unsigned size() { return num_threads(); }
  static unsigned thread_rank() { return lanes::rank_in_block(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 group_dim() { return blockDim; }

 private:
  constexpr thread_block() : thread_group(Kind::block) {}
  friend thread_block this_thread_block();
};
inline thread_block this_thread_block() { return {}; }

/// Memory that CUDA needs on some GPUs for tiles of several warps.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {};
template <unsigned MaxBlockSize>
thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
  return this_thread_block();
}

/// A group of lanes of one warp: what tiles and coalesced groups have in common. Votes and matches are masks of ranks.
class lane_group : public thread_group {
 public:
  void sync(Where where = Where::current()) const { __syncwarp(mask_, where); }
  unsigned num_threads() const { return static_cast<unsigned>(std::popcount(mask_)); }
  unsigned size() const { return num_threads(); }
  unsigned thread_rank() const { return rank_in_mask(); }
  /// The rank among the groups that the parent was partitioned into, and how many there are.
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

  int any(int predicate, Where where = Where::current()) const { return __any_sync(mask_, predicate, where); }
  int all(int predicate, Where where = Where::current()) const { return __all_sync(mask_, predicate, where); }
  unsigned ballot(int predicate, Where where = Where::current()) const {
    return lanes::ranks_of(__ballot_sync(mask_, predicate, where), mask_);
  }
  template <class T>
  unsigned match_any(T value, Where where = Where::current()) const {
    return lanes::ranks_of(lanes::matching(mask_, value, where), mask_);
  }
  template <class T>
  unsigned match_all(T value, int& predicate, Where where = Where::current()) const {
    const unsigned first = static_cast<unsigned>(std::countr_zero(mask_));
    const T of_first = lanes::shuffle(WarpOperation::shuffle, mask_, value, static_cast<int>(first), 32, where);
    const bool equal = simt::internal::to_bits(of_first) == simt::internal::to_bits(value);
    predicate = __all_sync(mask_, equal, where);
    return predicate ? lanes::ranks_of(mask_, mask_) : 0;
  }

 protected:
  constexpr lane_group(unsigned mask, unsigned meta_rank, unsigned meta_size)
      : thread_group(Kind::lanes, mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

  unsigned meta_rank_, meta_size_;

 private:
  friend struct group_access;
};

/// Lanes that a branch left together, or that have something in common.
class coalesced_group : public lane_group {
 public:
  /// Reads the value of the thread with this rank.
  template <class T>
  std::remove_cvref_t<T> shfl(T&& value, int rank, Where where = Where::current()) const {
    return read<std::remove_cvref_t<T>>(value, static_cast<unsigned>(rank) % num_threads(), where);
  }
  /// Read the value of the thread with a rank higher or lower by `delta`; the own value if there is none.
  template <class T>
  std::remove_cvref_t<T> shfl_down(T&& value, unsigned delta, Where where = Where::current()) const {
    const unsigned rank = thread_rank();
    return read<std::remove_cvref_t<T>>(value, delta < num_threads() - rank ? rank + delta : rank, where);
  }
  template <class T>
  std::remove_cvref_t<T> shfl_up(T&& value, int delta, Where where = Where::current()) const {
    const unsigned rank = thread_rank(), up = static_cast<unsigned>(delta);
    return read<std::remove_cvref_t<T>>(value, up <= rank ? rank - up : rank, where);
  }

 private:
  coalesced_group(unsigned mask, unsigned meta_rank, unsigned meta_size) : lane_group(mask, meta_rank, meta_size) {}
  friend struct group_access;

  template <class T>
  T read(T value, unsigned rank, Where where) const {
    return lanes::shuffle(WarpOperation::shuffle, mask_, value, static_cast<int>(lanes::lane_of(mask_, rank)), 32,
                          where);
  }
};

/// A tile: `Size` consecutive threads of its parent. Those with more than 32 are in wide_tiles.h.
template <unsigned Size, class Parent = void>
class thread_block_tile : public lane_group {
  static_assert(Size >= 1 && (Size & (Size - 1)) == 0, "the size of a tile must be a power of two");

 public:
  /// A tile without the type of its parent.
  template <class OtherParent>
  requires(std::is_void_v<Parent> && !std::is_void_v<OtherParent>)
      thread_block_tile(const thread_block_tile<Size, OtherParent>& other)
      : lane_group(other) {}

  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  static unsigned thread_rank() { return lanes::own_lane() % Size; }

  template <class T>
  std::remove_cvref_t<T> shfl(T&& value, int rank, Where where = Where::current()) const {
    return read<std::remove_cvref_t<T>>(WarpOperation::shuffle, value, rank, where);
  }
  template <class T>
  std::remove_cvref_t<T> shfl_down(T&& value, unsigned delta, Where where = Where::current()) const {
    return read<std::remove_cvref_t<T>>(WarpOperation::shuffle_down, value, static_cast<int>(delta), where);
  }
  template <class T>
  std::remove_cvref_t<T> shfl_up(T&& value, unsigned delta, Where where = Where::current()) const {
    return read<std::remove_cvref_t<T>>(WarpOperation::shuffle_up, value, static_cast<int>(delta), where);
  }
  template <class T>
  std::remove_cvref_t<T> shfl_xor(T&& value, unsigned mask, Where where = Where::current()) const {
    return read<std::remove_cvref_t<T>>(WarpOperation::shuffle_xor, value, static_cast<int>(mask), where);
  }

 private:
  thread_block_tile(unsigned mask, unsigned meta_rank, unsigned meta_size) : lane_group(mask, meta_rank, meta_size) {}
  friend struct group_access;

  template <class T>
  T read(WarpOperation operation, T value, int lane, Where where) const {
    return lanes::shuffle(operation, mask_, value, lane, static_cast<int>(Size), where);
  }
};

/// Makes groups of lanes, and returns their lanes.
struct group_access {
  template <class Group>
  static Group make(unsigned mask, unsigned meta_rank, unsigned meta_size) {
    return Group(mask, meta_rank, meta_size);
  }
  static unsigned mask(const lane_group& group) { return group.mask_; }
};

template <class Group>
inline constexpr bool is_lane_group = std::is_base_of_v<lane_group, Group>;

/// What tiles of several warps have in common: see wide_tiles.h.
class wide_tile;
template <class Group>
inline constexpr bool is_wide_tile = std::is_base_of_v<wide_tile, Group>;

// ---- The same as functions ----

template <class Group>
void sync(const Group& group, Where where = Where::current()) {
  group.sync(where);
}
template <class Group>
auto thread_rank(const Group& group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) -> decltype(group.num_threads()) {
  return group.num_threads();
}

// ---- What simt does not have ----

/// Thread block clusters are not supported.
class cluster_group {};
cluster_group this_cluster() = delete;

}  // namespace convlab::simt::cuda::cooperative_groups
