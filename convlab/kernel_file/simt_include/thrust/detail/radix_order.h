#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "convlab/kernel_file/simt_include/thrust/functional.h"

/// Sorts numbers in their usual order on the host, which is many times faster than in a kernel with checks. The kernels
/// that load and store the elements are checked.
namespace thrust::detail {

template <class Less>
inline constexpr int direction_of = 0;
template <class T>
inline constexpr int direction_of<thrust::less<T>> = 1;
template <class T>
inline constexpr int direction_of<std::less<T>> = 1;
template <class T>
inline constexpr int direction_of<thrust::greater<T>> = -1;
template <class T>
inline constexpr int direction_of<std::greater<T>> = -1;

/// Whether Less orders numbers upward or downward.
template <class Key, class Less>
inline constexpr bool has_radix_order = direction_of<Less> != 0 && std::is_arithmetic_v<Key> && sizeof(Key) <= 8;

/// A number that orders keys as they order themselves. -0 and +0 are equal.
template <class Key>
__attribute__((no_sanitize("thread"))) inline uint64_t ordered_number(Key key) {
  constexpr uint64_t kHigh = uint64_t{1} << 63;
  if constexpr (std::is_floating_point_v<Key>) {
    const double wide = key == 0 ? 0.0 : static_cast<double>(key);
    const uint64_t bits = __builtin_bit_cast(uint64_t, wide);
    return (bits & kHigh) != 0 ? ~bits : bits | kHigh;
  } else if constexpr (std::is_signed_v<Key>) {
    return static_cast<uint64_t>(static_cast<int64_t>(key)) ^ kHigh;
  } else {
    return static_cast<uint64_t>(key);
  }
}

/// Sorts numbers of elements by 8 bits of their keys. `to` gets the result.
__attribute__((no_sanitize("thread"))) inline bool sort_by_digit(const uint64_t* numbers, const uint32_t* from,
                                                                 uint32_t* to, int64_t n, int shift) {
  int64_t places[256] = {};
  for (int64_t i = 0; i < n; ++i) ++places[numbers[i] >> shift & 255];
  if (places[numbers[0] >> shift & 255] == n) return false;  // all are equal here
  int64_t sum = 0;
  for (int64_t& place : places) {
    const int64_t count = place;
    place = sum;
    sum += count;
  }
  for (int64_t i = 0; i < n; ++i) to[places[numbers[from[i]] >> shift & 255]++] = from[i];
  return true;
}

/// Returns the numbers of elements in the order of their keys, equal ones in their own order.
template <class Key>
__attribute__((no_sanitize("thread"))) std::vector<uint32_t> radix_order(const Key* keys, int64_t n, bool downward) {
  std::vector<uint64_t> number_memory(static_cast<size_t>(n));
  std::vector<uint32_t> order(static_cast<size_t>(n)), other(static_cast<size_t>(n));
  uint64_t* const numbers = number_memory.data();
  uint32_t* const first = order.data();
  for (int64_t i = 0; i < n; ++i) {
    first[i] = static_cast<uint32_t>(i);
    numbers[i] = downward ? ~ordered_number(keys[i]) : ordered_number(keys[i]);
  }
  for (int shift = 0; shift < 64; shift += 8) {
    if (sort_by_digit(numbers, order.data(), other.data(), n, shift)) order.swap(other);
  }
  return order;
}

}  // namespace thrust::detail
