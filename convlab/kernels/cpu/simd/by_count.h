#pragma once

#include <array>
#include <type_traits>
#include <utility>

namespace convlab {

/// An array of functions instantiated for 1 to kMost of something, to choose from at run time: element i is entry() of
/// an integral_constant of i + 1.
template <int kMost, class Entry>
constexpr auto by_count(Entry entry) {
  return [&]<int... kLess>(std::integer_sequence<int, kLess...>) {
    return std::array{entry(std::integral_constant<int, kLess + 1>())...};
  }
  (std::make_integer_sequence<int, kMost>());
}

}  // namespace convlab
