#pragma once

#include <bit>
#include <concepts>
#include <type_traits>

#include "convlab/kernel_file/simt_include/cuda/detail/std_names.h"

/// cuda's integer mathematics: <cuda/cmath>.
namespace cuda {

namespace simt_detail {
template <class T>
constexpr auto to_unsigned(T value) {
  return static_cast<std::make_unsigned_t<T>>(value);
}
}  // namespace simt_detail

/// a / b, rounded up; a >= 0 and b > 0.
template <class A, class B>
constexpr std::common_type_t<A, B> ceil_div(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_enum_v<B>) return ceil_div(a, static_cast<std::underlying_type_t<B>>(b));
  const T x = static_cast<T>(a), y = static_cast<T>(b);
  return static_cast<T>(x / y + (x % y != 0));
}
/// The next multiple of b, up or down.
template <class A, class B>
constexpr std::common_type_t<A, B> round_up(A a, B b) {
  return static_cast<std::common_type_t<A, B>>(ceil_div(a, b) * b);
}
template <class A, class B>
constexpr std::common_type_t<A, B> round_down(A a, B b) {
  return static_cast<std::common_type_t<A, B>>(a / b * b);
}

template <std::integral T>
constexpr bool is_power_of_two(T value) {
  return std::has_single_bit(simt_detail::to_unsigned(value));
}
template <std::integral T>
constexpr T next_power_of_two(T value) {
  return static_cast<T>(std::bit_ceil(simt_detail::to_unsigned(value)));
}
template <std::integral T>
constexpr T prev_power_of_two(T value) {
  return static_cast<T>(std::bit_floor(simt_detail::to_unsigned(value)));
}

/// Logarithms, rounded down or up; value > 0.
template <std::integral T>
constexpr int ilog2(T value) {
  return static_cast<int>(std::bit_width(simt_detail::to_unsigned(value))) - 1;
}
template <std::integral T>
constexpr int ceil_ilog2(T value) {
  return ilog2(value) + !is_power_of_two(value);
}
template <std::integral T>
constexpr int ilog10(T value) {
  int log = 0;
  for (; value >= 10; value /= 10) ++log;
  return log;
}

/// The square root, rounded down; value >= 0.
template <std::integral T>
constexpr T isqrt(T value) {
  using U = std::make_unsigned_t<T>;
  U rest = simt_detail::to_unsigned(value), root = 0;
  for (int shift = (static_cast<int>(std::bit_width(rest)) + 1) / 2 - 1; shift >= 0; --shift) {
    const U next = root | static_cast<U>(U{1} << shift);
    if (next <= rest / next) root = next;
  }
  return static_cast<T>(root);
}

/// The absolute value, also of the smallest number; and the negative, which wraps.
template <std::integral T>
constexpr auto uabs(T value) {
  using U = std::make_unsigned_t<T>;
  return value < 0 ? static_cast<U>(U{0} - static_cast<U>(value)) : static_cast<U>(value);
}
template <std::integral T>
constexpr T neg(T value) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(U{0} - static_cast<U>(value));
}

/// The high half of a product.
template <std::integral T>
constexpr T mul_hi(T a, T b) {
  constexpr int kBits = 8 * sizeof(T);
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b) >> kBits);
}

/// Divides by the same number often. Here it just divides.
template <std::integral T>
class fast_mod_div {
 public:
  constexpr explicit fast_mod_div(T divisor) : divisor_(divisor) {}
  constexpr operator T() const { return divisor_; }
  template <std::integral A>
  friend constexpr std::common_type_t<A, T> operator/(A a, fast_mod_div b) {
    return a / b.divisor_;
  }
  template <std::integral A>
  friend constexpr std::common_type_t<A, T> operator%(A a, fast_mod_div b) {
    return a % b.divisor_;
  }

 private:
  T divisor_;
};

}  // namespace cuda
