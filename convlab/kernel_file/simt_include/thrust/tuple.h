#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "convlab/kernel_file/simt_include/thrust/pair.h"

namespace thrust {

namespace detail {

template <size_t I, class T>
struct TupleElement {
  T value{};
  TupleElement() = default;
  template <class U>
  explicit TupleElement(std::in_place_t, U&& from) : value(static_cast<U&&>(from)) {}
};
template <size_t I, class T>
struct TupleElement<I, T&> {
  T& value;
  explicit TupleElement(std::in_place_t, T& from) : value(from) {}
  TupleElement(const TupleElement&) = default;
  TupleElement& operator=(const TupleElement& other) {
    value = other.value;
    return *this;
  }
};

template <class Indices, class... T>
struct TupleElements;
template <size_t... I, class... T>
struct TupleElements<std::index_sequence<I...>, T...> : TupleElement<I, T>... {
  TupleElements() = default;
  template <class... U>
  explicit TupleElements(std::in_place_t each, U&&... from) : TupleElement<I, T>(each, std::forward<U>(from))... {}
};

template <size_t I, class T>
TupleElement<I, T>& element_of(TupleElement<I, T>& element) {
  return element;
}
template <size_t I, class T>
const TupleElement<I, T>& element_of(const TupleElement<I, T>& element) {
  return element;
}

}  // namespace detail

template <class... T>
class tuple;

template <class T>
struct tuple_size : std::tuple_size<T> {};
template <size_t I, class T>
struct tuple_element : std::tuple_element<I, T> {};
template <size_t I, class T>
using tuple_element_t = typename tuple_element<I, T>::type;

template <size_t I, class... T>
auto& get(tuple<T...>& t) {
  return detail::element_of<I>(t.elements_).value;
}
template <size_t I, class... T>
const auto& get(const tuple<T...>& t) {
  return detail::element_of<I>(t.elements_).value;
}
/// A reference in a temporary tuple is still an lvalue.
template <size_t I, class... T>
auto get(tuple<T...>&& t) -> std::tuple_element_t<I, std::tuple<T...>>&& {
  return static_cast<std::tuple_element_t<I, std::tuple<T...>>&&>(detail::element_of<I>(t.elements_).value);
}
template <size_t I, class... T>
auto get(const tuple<T...>&& t) -> const std::tuple_element_t<I, std::tuple<T...>>& {
  return detail::element_of<I>(t.elements_).value;
}

/// As std::tuple, but kernels can take it as a parameter.
template <class... T>
class tuple {
  using Indices = std::index_sequence_for<T...>;

 public:
  tuple() = default;
  template <class... U>
  requires(sizeof...(U) == sizeof...(T) && sizeof...(T) > 0 && (std::is_constructible_v<T, U&&> && ...) &&
           !(sizeof...(U) == 1 && (std::is_base_of_v<tuple, std::remove_cvref_t<U>> || ...))) tuple(U&&... from)
      : elements_(std::in_place, std::forward<U>(from)...) {}
  template <class... U>
  requires(sizeof...(U) == sizeof...(T) && !std::is_same_v<tuple<U...>, tuple> &&
           (std::is_constructible_v<T, const U&> && ...)) tuple(const tuple<U...>& other)
      : tuple(other, Indices()) {}
  template <class A, class B>
  requires(sizeof...(T) == 2) tuple(const pair<A, B>& other) : tuple(other.first, other.second) {}

  tuple(const tuple&) = default;
  tuple& operator=(const tuple&) = default;
  template <class... U>
  requires(sizeof...(U) == sizeof...(T)) tuple& operator=(const tuple<U...>& other) {
    assign(other, Indices());
    return *this;
  }
  template <class A, class B>
  requires(sizeof...(T) == 2) tuple& operator=(const pair<A, B>& other) {
    thrust::get<0>(*this) = other.first;
    thrust::get<1>(*this) = other.second;
    return *this;
  }

  template <size_t I>
  auto& get() {
    return thrust::get<I>(*this);
  }
  template <size_t I>
  const auto& get() const {
    return thrust::get<I>(*this);
  }

  void swap(tuple& other) {
    tuple before = *this;
    *this = other;
    other = before;
  }
  friend void swap(tuple& a, tuple& b) { a.swap(b); }

  template <class... U>
  friend bool operator==(const tuple& a, const tuple<U...>& b) {
    return equal(a, b, Indices());
  }
  template <class... U>
  friend bool operator!=(const tuple& a, const tuple<U...>& b) {
    return !equal(a, b, Indices());
  }
  template <class... U>
  friend bool operator<(const tuple& a, const tuple<U...>& b) {
    return less<0>(a, b);
  }
  template <class... U>
  friend bool operator>(const tuple& a, const tuple<U...>& b) {
    return less<0>(b, a);
  }
  template <class... U>
  friend bool operator<=(const tuple& a, const tuple<U...>& b) {
    return !less<0>(b, a);
  }
  template <class... U>
  friend bool operator>=(const tuple& a, const tuple<U...>& b) {
    return !less<0>(a, b);
  }

 private:
  template <size_t I, class... U>
  friend auto& get(tuple<U...>& t);
  template <size_t I, class... U>
  friend const auto& get(const tuple<U...>& t);
  template <size_t I, class... U>
  friend auto get(tuple<U...>&& t) -> std::tuple_element_t<I, std::tuple<U...>>&&;
  template <size_t I, class... U>
  friend auto get(const tuple<U...>&& t) -> const std::tuple_element_t<I, std::tuple<U...>>&;

  template <class Other, size_t... I>
  tuple(const Other& other, std::index_sequence<I...>) : elements_(std::in_place, thrust::get<I>(other)...) {}
  template <class Other, size_t... I>
  void assign(const Other& other, std::index_sequence<I...>) {
    ((thrust::get<I>(*this) = thrust::get<I>(other)), ...);
  }
  template <class Other, size_t... I>
  static bool equal(const tuple& a, const Other& b, std::index_sequence<I...>) {
    return ((thrust::get<I>(a) == thrust::get<I>(b)) && ...);
  }
  template <size_t I, class A, class B>
  static bool less(const A& a, const B& b) {
    if constexpr (I == sizeof...(T)) {
      return false;
    } else {
      if (thrust::get<I>(a) < thrust::get<I>(b)) return true;
      return !(thrust::get<I>(b) < thrust::get<I>(a)) && less<I + 1>(a, b);
    }
  }

  detail::TupleElements<Indices, T...> elements_;
};
template <class... T>
tuple(T...) -> tuple<T...>;

template <class... T>
tuple<std::unwrap_ref_decay_t<T>...> make_tuple(T&&... values) {
  return tuple<std::unwrap_ref_decay_t<T>...>(std::forward<T>(values)...);
}
/// Variables that an assignment of a tuple sets.
template <class... T>
tuple<T&...> tie(T&... variables) {
  return tuple<T&...>(variables...);
}

namespace detail {

struct Ignore {
  template <class T>
  const Ignore& operator=(const T&) const {
    return *this;
  }
};

template <class F, class Tuple, size_t... I>
decltype(auto) apply(F&& f, Tuple&& t, std::index_sequence<I...>) {
  return f(thrust::get<I>(std::forward<Tuple>(t))...);
}

}  // namespace detail

inline constexpr detail::Ignore ignore{};

template <class F, class Tuple>
decltype(auto) apply(F&& f, Tuple&& t) {
  return detail::apply(f, std::forward<Tuple>(t),
                       std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<Tuple>>>());
}

}  // namespace thrust

template <class... T>
struct std::tuple_size<thrust::tuple<T...>> : std::integral_constant<size_t, sizeof...(T)> {};
template <size_t I, class... T>
struct std::tuple_element<I, thrust::tuple<T...>> : std::tuple_element<I, std::tuple<T...>> {};
