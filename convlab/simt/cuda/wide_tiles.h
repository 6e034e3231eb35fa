#pragma once

#include <cstdint>
#include <type_traits>

#include "convlab/simt/cuda/thread_groups.h"
#include "convlab/simt/tile_exchange.h"

/// Cooperative groups: tiles of 64 to 1024 threads. As in CUDA they have no shuffles but shfl(), no ballots and no
/// matches, do not convert to thread_group, and exchange values of at most 8 bytes. Only sync() orders memory. The
/// block must have a multiple of the tile's threads; otherwise the kernel ends with an error, where a GPU's threads
/// would wait forever.
namespace convlab::simt::cuda::cooperative_groups {

class wide_tile {
 public:
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

 protected:
  wide_tile(unsigned meta_rank, unsigned meta_size) : meta_rank_(meta_rank), meta_size_(meta_size) {}

  unsigned meta_rank_, meta_size_;
};

template <unsigned Size, class Parent>
requires(Size > 32) class thread_block_tile<Size, Parent> : public wide_tile {
  static_assert((Size & (Size - 1)) == 0, "the size of a tile must be a power of two");
  static_assert(Size <= kMostTileThreads, "thread_block_tile: a tile has at most 1024 threads");

 public:
  /// A tile without the type of its parent.
  template <class OtherParent>
  requires(std::is_void_v<Parent> && !std::is_void_v<OtherParent>)
      thread_block_tile(const thread_block_tile<Size, OtherParent>& other)
      : wide_tile(other) {}

  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  static unsigned thread_rank() { return lanes::rank_in_block() % Size; }

  static void sync(Where where = Where::current()) {
    uint64_t ignored[kWarps];
    exchange_in_tile(Size, true, 0, ignored, where);
  }

  /// Reads the value of the thread with this rank, which must be the same for all threads.
  template <class T>
  std::remove_cvref_t<T> shfl(T&& value, unsigned rank, Where where = Where::current()) const {
    using Value = std::remove_cvref_t<T>;
    Value of_warps[kWarps];
    gather<Value>(warp().shfl(value, static_cast<int>(rank % 32), where), of_warps, where);
    return of_warps[rank / 32 % kWarps];
  }
  int any(int predicate, Where where = Where::current()) const {
    int of_warps[kWarps], result = 0;
    gather<int>(warp().any(predicate, where), of_warps, where);
    for (const int each : of_warps) result |= each;
    return result;
  }
  int all(int predicate, Where where = Where::current()) const { return !any(!predicate, where); }

 private:
  static constexpr unsigned kWarps = Size / 32;
  friend struct group_access;
  friend struct wide_collectives;

  thread_block_tile(unsigned, unsigned meta_rank, unsigned meta_size) : wide_tile(meta_rank, meta_size) {}

  static thread_block_tile<32> warp() {
    return group_access::make<thread_block_tile<32>>(UINT32_MAX, thread_rank() / 32, kWarps);
  }

  /// Gets a value of each warp, which its threads agree on.
  template <class T>
  static void gather(T value, T (&of_warps)[kWarps], Where where) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8,
                  "a tile of more than 32 threads exchanges values of at most 8 bytes");
    uint64_t bits[kWarps];
    exchange_in_tile(Size, false, simt::internal::to_bits(value), bits, where);
    for (unsigned i = 0; i < kWarps; ++i) of_warps[i] = simt::internal::from_bits<T>(bits[i]);
  }
};

/// Reductions and scans: within each warp, then over the results of the warps, in a GPU's order.
struct wide_collectives {
  template <class Tile>
  static thread_block_tile<32> warp(const Tile& tile) {
    return tile.warp();
  }

  /// Returns the combination of the values of the tile's warps, which the threads of each agree on.
  template <class Tile, class T, class Operator>
  static T reduce(const Tile& tile, T of_warp, Operator& op, Where where) {
    T values[Tile::kWarps];
    tile.template gather<T>(of_warp, values, where);
    for (unsigned distance = Tile::kWarps / 2; distance > 0; distance /= 2) {
      T next[Tile::kWarps];
      for (unsigned i = 0; i < Tile::kWarps; ++i) next[i] = op(values[i], values[i ^ distance]);
      __builtin_memcpy(values, next, sizeof(values));
    }
    return values[tile.thread_rank() / 32];
  }

  /// Returns the combination of what the last threads of the warps before the thread's pass; T{} for the first one.
  template <class Tile, class T, class Operator>
  static T before_warp(const Tile& tile, T of_thread, Operator& op, Where where) {
    T values[Tile::kWarps];
    tile.template gather<T>(tile.warp().shfl(of_thread, 31, where), values, where);
    for (unsigned distance = 1; distance < Tile::kWarps; distance *= 2) {
      for (unsigned i = Tile::kWarps - 1; i >= distance; --i) values[i] = op(values[i], values[i - distance]);
    }
    const unsigned own = tile.thread_rank() / 32;
    return own == 0 ? T{} : values[own - 1];
  }
};

}  // namespace convlab::simt::cuda::cooperative_groups
