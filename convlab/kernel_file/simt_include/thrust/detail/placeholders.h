#pragma once

#include <type_traits>
#include <utility>

#include "convlab/kernel_file/simt_include/thrust/tuple.h"

/// thrust::placeholders: `_1 * 2 + _2` is a function object.
namespace thrust {

namespace detail {

/// A function object made from an expression.
template <class F>
struct Expression {
  F f;
  template <class... T>
  constexpr decltype(auto) operator()(T&&... values) const {
    return f(values...);
  }
};
template <class F>
Expression(F) -> Expression<F>;

template <int kNumber>
struct Placeholder {
  template <class... T>
  constexpr decltype(auto) operator()(T&... values) const {
    return thrust::get<kNumber>(thrust::tie(values...));
  }
};

template <class T>
inline constexpr bool is_expression = false;
template <class F>
inline constexpr bool is_expression<Expression<F>> = true;

/// Returns the function object, or one that returns the value.
template <class T>
auto as_expression(const T& value) {
  if constexpr (is_expression<T>) {
    return value;
  } else {
    return [value](const auto&...) { return value; };
  }
}

#define CONVLAB_THRUST_BINARY(op)                                                                       \
  template <class A, class B>                                                                           \
  requires(is_expression<A> || is_expression<B>) auto operator op(const A& a, const B& b) {             \
    return Expression{[a = as_expression(a), b = as_expression(b)](auto&... values) -> decltype(auto) { \
      return a(values...) op b(values...);                                                              \
    }};                                                                                                 \
  }
CONVLAB_THRUST_BINARY(+)
CONVLAB_THRUST_BINARY(-)
CONVLAB_THRUST_BINARY(*)
CONVLAB_THRUST_BINARY(/)
CONVLAB_THRUST_BINARY(%)
CONVLAB_THRUST_BINARY(==)
CONVLAB_THRUST_BINARY(!=)
CONVLAB_THRUST_BINARY(<)
CONVLAB_THRUST_BINARY(>)
CONVLAB_THRUST_BINARY(<=)
CONVLAB_THRUST_BINARY(>=)
CONVLAB_THRUST_BINARY(&&)
CONVLAB_THRUST_BINARY(||)
CONVLAB_THRUST_BINARY(&)
CONVLAB_THRUST_BINARY(|)
CONVLAB_THRUST_BINARY(^)
CONVLAB_THRUST_BINARY(<<)
CONVLAB_THRUST_BINARY(>>)
CONVLAB_THRUST_BINARY(+=)
CONVLAB_THRUST_BINARY(-=)
CONVLAB_THRUST_BINARY(*=)
CONVLAB_THRUST_BINARY(/=)
CONVLAB_THRUST_BINARY(%=)
CONVLAB_THRUST_BINARY(&=)
CONVLAB_THRUST_BINARY(|=)
CONVLAB_THRUST_BINARY(^=)
#undef CONVLAB_THRUST_BINARY

#define CONVLAB_THRUST_UNARY(op)                                                           \
  template <class F>                                                                       \
  auto operator op(const Expression<F>& a) {                                               \
    return Expression{[a](auto&... values) -> decltype(auto) { return op a(values...); }}; \
  }
CONVLAB_THRUST_UNARY(-)
CONVLAB_THRUST_UNARY(+)
CONVLAB_THRUST_UNARY(!)
CONVLAB_THRUST_UNARY(~)
CONVLAB_THRUST_UNARY(++)
CONVLAB_THRUST_UNARY(--)
#undef CONVLAB_THRUST_UNARY

}  // namespace detail

namespace placeholders {

inline constexpr detail::Expression<detail::Placeholder<0>> _1{};
inline constexpr detail::Expression<detail::Placeholder<1>> _2{};
inline constexpr detail::Expression<detail::Placeholder<2>> _3{};
inline constexpr detail::Expression<detail::Placeholder<3>> _4{};
inline constexpr detail::Expression<detail::Placeholder<4>> _5{};
inline constexpr detail::Expression<detail::Placeholder<5>> _6{};
inline constexpr detail::Expression<detail::Placeholder<6>> _7{};
inline constexpr detail::Expression<detail::Placeholder<7>> _8{};
inline constexpr detail::Expression<detail::Placeholder<8>> _9{};
inline constexpr detail::Expression<detail::Placeholder<9>> _10{};

}  // namespace placeholders
}  // namespace thrust
