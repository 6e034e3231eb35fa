#pragma once

#include <cassert>
#include <cstdint>
#include <type_traits>

#include "convlab/kernel_file/simt_include/cub/util_ptx.cuh"
#include "convlab/kernel_file/simt_include/cub/util_type.cuh"

/// What the collectives of warps and blocks share. They run on the kernel's own threads, with its barriers and shared
/// memory, so that simt finds their misuse. Barriers and shuffles are reported at the line that calls the collective.
namespace cub::detail {

using convlab::simt::Where;

/// Uninitialized elements in shared memory. They may be part of a union and of dynamic shared memory.
template <class T, int kCount>
struct Storage {
  alignas(T) unsigned char bytes[sizeof(T) * kCount];

  T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};

/// Fills a value that CUB leaves undefined with bytes 0xff: a NaN as a float.
template <class T>
void poison(T& value) {
  if constexpr (std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>) {
    __builtin_memset(static_cast<void*>(&value), 0xff, sizeof(T));
  }
}

/// Returns another lane's value of any type.
template <class T>
T shuffle(unsigned mask, const T& value, int source_lane, Where where) {
  constexpr int kWords = (sizeof(T) + 7) / 8;
  uint64_t words[kWords] = {};
  __builtin_memcpy(words, static_cast<const void*>(&value), sizeof(T));
  for (uint64_t& word : words) word = __shfl_sync(mask, word, source_lane, 32, where);
  T result = value;
  __builtin_memcpy(static_cast<void*>(&result), words, sizeof(T));
  return result;
}

/// Ends the kernel with a failed assertion, whose text is the rule, unless a block has as many threads as the
/// collective was made for.
inline void check_block(const char* rule, int threads) {
  if (static_cast<int>(blockDim.x * blockDim.y * blockDim.z) != threads) __assert_fail(rule, __FILE__, __LINE__, "");
}

/// A logical warp: a thread's number in it, its lanes, and how many threads it has.
struct WarpLanes {
  int rank;
  int first;
  int count;
  unsigned mask;
};

/// Returns the logical warp of kThreads lanes. If kThreads is not a power of two, it is the first lanes of a warp. The
/// last warp of a block may have fewer threads.
template <int kThreads>
WarpLanes warp_lanes() {
  static_assert(kThreads >= 1 && kThreads <= 32, "a logical warp has 1 to 32 threads");
  const int lane = static_cast<int>(LaneId());
  const int threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
  const int in_warp = min(32, threads - static_cast<int>(WarpId()) * 32);
  const int first = PowerOfTwo<kThreads>::VALUE ? lane / kThreads * kThreads : 0;
  const int count = min(kThreads, in_warp - first);
  return {lane - first, first, count, (0xffffffffu >> (32 - count)) << first};
}

/// Returns op over the values of ranks rank, rank + 1, ... below `valid`, in this order.
template <class T, class Op>
T reduce_warp(const WarpLanes& warp, T value, Op op, int valid, Where where) {
  for (int offset = 1; offset < warp.count; offset *= 2) {
    const int source = warp.rank + offset < warp.count ? warp.rank + offset : warp.rank;
    const T other = shuffle(warp.mask, value, warp.first + source, where);
    if (warp.rank + offset < valid) value = op(value, other);
  }
  return value;
}

/// Returns op over the values of ranks 0 to rank.
template <class T, class Op>
T scan_warp(const WarpLanes& warp, T value, Op op, Where where) {
  for (int offset = 1; offset < warp.count; offset *= 2) {
    const int source = warp.rank >= offset ? warp.rank - offset : warp.rank;
    const T other = shuffle(warp.mask, value, warp.first + source, where);
    if (warp.rank >= offset) value = op(other, value);
  }
  return value;
}

}  // namespace cub::detail
