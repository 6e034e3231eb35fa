#pragma once

#include <tuple>
#include <utility>

namespace thrust {

/// As std::pair, but kernels can take it as a parameter.
template <class T1, class T2>
struct pair {
  using first_type = T1;
  using second_type = T2;
  T1 first{};
  T2 second{};

  pair() = default;
  pair(const T1& a, const T2& b) : first(a), second(b) {}
  template <class U1, class U2>
  pair(const pair<U1, U2>& other) : first(other.first), second(other.second) {}
  template <class U1, class U2>
  pair(const std::pair<U1, U2>& other) : first(other.first), second(other.second) {}
  template <class U1, class U2>
  pair& operator=(const pair<U1, U2>& other) {
    first = other.first;
    second = other.second;
    return *this;
  }
  void swap(pair& other) {
    std::swap(first, other.first);
    std::swap(second, other.second);
  }
  friend void swap(pair& a, pair& b) { a.swap(b); }
  friend bool operator==(const pair& a, const pair& b) { return a.first == b.first && a.second == b.second; }
  friend bool operator!=(const pair& a, const pair& b) { return !(a == b); }
  friend bool operator<(const pair& a, const pair& b) {
    return a.first < b.first || (!(b.first < a.first) && a.second < b.second);
  }
  friend bool operator>(const pair& a, const pair& b) { return b < a; }
  friend bool operator<=(const pair& a, const pair& b) { return !(b < a); }
  friend bool operator>=(const pair& a, const pair& b) { return !(a < b); }
};
template <class T1, class T2>
pair(T1, T2) -> pair<T1, T2>;

template <class T1, class T2>
pair<std::decay_t<T1>, std::decay_t<T2>> make_pair(T1&& a, T2&& b) {
  return {std::forward<T1>(a), std::forward<T2>(b)};
}

template <size_t I, class T1, class T2>
auto& get(pair<T1, T2>& p) {
  static_assert(I < 2);
  if constexpr (I == 0) {
    return p.first;
  } else {
    return p.second;
  }
}
template <size_t I, class T1, class T2>
const auto& get(const pair<T1, T2>& p) {
  return get<I>(const_cast<pair<T1, T2>&>(p));
}

}  // namespace thrust

template <class T1, class T2>
struct std::tuple_size<thrust::pair<T1, T2>> : std::integral_constant<size_t, 2> {};
template <size_t I, class T1, class T2>
struct std::tuple_element<I, thrust::pair<T1, T2>> {
  using type = std::conditional_t<I == 0, T1, T2>;
};
