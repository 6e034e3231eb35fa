#pragma once

#include <concepts>

#include "convlab/kernel_file/simt_include/cuda/detail/std_names.h"

/// cuda's functions of bits: <cuda/bit>. T is unsigned, and a field lies inside of it.
namespace cuda {

/// `width` ones from bit `start` on.
template <std::unsigned_integral T>
constexpr T bitmask(int start, int width) {
  const T ones = width >= static_cast<int>(8 * sizeof(T)) ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << width) - 1);
  return start >= static_cast<int>(8 * sizeof(T)) ? T{0} : static_cast<T>(ones << start);
}

template <std::unsigned_integral T>
constexpr T bit_reverse(T value) {
  T reversed = 0;
  for (int bit = 0; bit < static_cast<int>(8 * sizeof(T)); ++bit) {
    reversed = static_cast<T>(reversed << 1 | (value >> bit & 1));
  }
  return reversed;
}

template <std::unsigned_integral T>
constexpr T bitfield_insert(T to, T from, int start, int width) {
  const T mask = bitmask<T>(start, width);
  return static_cast<T>((to & ~mask) | (static_cast<T>(from << start) & mask));
}
template <std::unsigned_integral T>
constexpr T bitfield_extract(T from, int start, int width) {
  return static_cast<T>(from >> start & bitmask<T>(0, width));
}

}  // namespace cuda
