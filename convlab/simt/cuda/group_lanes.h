#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "convlab/simt/warp.h"
#include "convlab/simt/where.h"

/// Lanes of a warp as cooperative groups use them: masks, ranks, and shuffles of any trivially copyable type.
namespace convlab::simt::cuda::cooperative_groups::lanes {

/// Returns the rank of the running thread in its block.
inline unsigned rank_in_block() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
inline unsigned threads_in_block() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned own_lane() { return rank_in_block() % 32; }

/// Returns the lanes below this one.
constexpr unsigned below(unsigned lane) { return (1u << lane) - 1; }

/// Returns the lanes of the running thread's tile of `size` lanes, a power of two up to 32.
inline unsigned tile_around(unsigned size) {
  return size == 32 ? UINT32_MAX : below(size) << (own_lane() & ~(size - 1));
}

/// Returns the lane of this rank in the mask; 32 if the mask has fewer lanes.
constexpr unsigned lane_of(unsigned mask, unsigned rank) {
  for (; rank > 0; --rank) mask &= mask - 1;
  return static_cast<unsigned>(std::countr_zero(mask));
}

/// Returns the ranks in `mask` of those of its lanes that are in `lanes`, as a mask of ranks.
constexpr unsigned ranks_of(unsigned lanes, unsigned mask) {
  unsigned ranks = 0;
  for (unsigned rank = 0; mask != 0; mask &= mask - 1, ++rank) {
    if ((lanes & mask & -mask) != 0) ranks |= 1u << rank;
  }
  return ranks;
}

/// A shuffle of up to 32 bytes, the limit that CUDA documents, as shuffles of 8 bytes.
template <class T>
T shuffle(WarpOperation operation, unsigned mask, T value, int lane, int width, Where where) {
  static_assert(std::is_trivially_copyable_v<T>, "shfl: the type must be trivially copyable");
  static_assert(sizeof(T) <= 32, "shfl: the type must have at most 32 bytes");
  if constexpr (sizeof(T) <= 8) {
    return simt::internal::from_bits<T>(
        warp_operation(operation, mask, simt::internal::to_bits(value), lane, width, where));
  } else {
    uint64_t words[(sizeof(T) + 7) / 8] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (uint64_t& word : words) word = warp_operation(operation, mask, word, lane, width, where);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
  }
}

/// Returns the lanes of the mask whose values are equal to the running thread's.
template <class T>
unsigned matching(unsigned mask, T value, Where where) {
  static_assert(std::is_integral_v<T> || std::is_pointer_v<T> || std::is_floating_point_v<T>,
                "match_any, match_all: the type must be an integer, a floating-point type or a pointer");
  unsigned equal = 0;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const T other = shuffle(WarpOperation::shuffle, mask, value, lane, 32, where);
    if (simt::internal::to_bits(other) == simt::internal::to_bits(value)) equal |= rest & -rest;
  }
  return equal;
}

}  // namespace convlab::simt::cuda::cooperative_groups::lanes
