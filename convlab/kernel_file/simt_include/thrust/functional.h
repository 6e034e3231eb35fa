#pragma once

#include <functional>
#include <utility>

#include "convlab/kernel_file/simt_include/thrust/detail/placeholders.h"

/// Function objects. Without a type (thrust::plus<>) they take any.
namespace thrust {

#define CONVLAB_THRUST_BINARY(name, Result, expression)                              \
  template <class T = void>                                                          \
  struct name {                                                                      \
    using first_argument_type = T;                                                   \
    using second_argument_type = T;                                                  \
    using result_type = Result;                                                      \
    constexpr Result operator()(const T& a, const T& b) const { return expression; } \
  };                                                                                 \
  template <>                                                                        \
  struct name<void> {                                                                \
    using is_transparent = void;                                                     \
    template <class T1, class T2>                                                    \
    constexpr auto operator()(const T1& a, const T2& b) const {                      \
      return expression;                                                             \
    }                                                                                \
  };
CONVLAB_THRUST_BINARY(plus, T, a + b)
CONVLAB_THRUST_BINARY(minus, T, a - b)
CONVLAB_THRUST_BINARY(multiplies, T, a* b)
CONVLAB_THRUST_BINARY(divides, T, a / b)
CONVLAB_THRUST_BINARY(modulus, T, a % b)
CONVLAB_THRUST_BINARY(bit_and, T, a& b)
CONVLAB_THRUST_BINARY(bit_or, T, a | b)
CONVLAB_THRUST_BINARY(bit_xor, T, a ^ b)
CONVLAB_THRUST_BINARY(maximum, T, a < b ? b : a)
CONVLAB_THRUST_BINARY(minimum, T, b < a ? b : a)
CONVLAB_THRUST_BINARY(equal_to, bool, a == b)
CONVLAB_THRUST_BINARY(not_equal_to, bool, a != b)
CONVLAB_THRUST_BINARY(greater, bool, a > b)
CONVLAB_THRUST_BINARY(less, bool, a < b)
CONVLAB_THRUST_BINARY(greater_equal, bool, a >= b)
CONVLAB_THRUST_BINARY(less_equal, bool, a <= b)
CONVLAB_THRUST_BINARY(logical_and, bool, a&& b)
CONVLAB_THRUST_BINARY(logical_or, bool, a || b)
#undef CONVLAB_THRUST_BINARY

#define CONVLAB_THRUST_UNARY(name, Result, expression)                   \
  template <class T = void>                                              \
  struct name {                                                          \
    using argument_type = T;                                             \
    using result_type = Result;                                          \
    constexpr Result operator()(const T& a) const { return expression; } \
  };                                                                     \
  template <>                                                            \
  struct name<void> {                                                    \
    using is_transparent = void;                                         \
    template <class T1>                                                  \
    constexpr auto operator()(const T1& a) const {                       \
      return expression;                                                 \
    }                                                                    \
  };
CONVLAB_THRUST_UNARY(negate, T, -a)
CONVLAB_THRUST_UNARY(square, T, a* a)
CONVLAB_THRUST_UNARY(logical_not, bool, !a)
CONVLAB_THRUST_UNARY(bit_not, T, ~a)
CONVLAB_THRUST_UNARY(identity, T, a)
#undef CONVLAB_THRUST_UNARY

template <class T1 = void, class T2 = void>
struct project1st {
  const T1& operator()(const T1& a, const T2&) const { return a; }
};
template <>
struct project1st<void, void> {
  template <class T1, class T2>
  const T1& operator()(const T1& a, const T2&) const {
    return a;
  }
};
template <class T1 = void, class T2 = void>
struct project2nd {
  const T2& operator()(const T1&, const T2& b) const { return b; }
};
template <>
struct project2nd<void, void> {
  template <class T1, class T2>
  const T2& operator()(const T1&, const T2& b) const {
    return b;
  }
};

/// Bases of function objects, which Thrust 3 no longer has.
template <class Argument, class Result>
struct unary_function {
  using argument_type = Argument;
  using result_type = Result;
};
template <class Argument1, class Argument2, class Result>
struct binary_function {
  using first_argument_type = Argument1;
  using second_argument_type = Argument2;
  using result_type = Result;
};

namespace detail {

template <class F>
struct Not {
  F f;
  template <class... T>
  bool operator()(const T&... values) {
    return !f(values...);
  }
  template <class... T>
  bool operator()(const T&... values) const {
    return !f(values...);
  }
};

}  // namespace detail

template <class F>
struct unary_negate : detail::Not<F> {
  explicit unary_negate(F f) : detail::Not<F>{f} {}
};
template <class F>
struct binary_negate : detail::Not<F> {
  explicit binary_negate(F f) : detail::Not<F>{f} {}
};
template <class F>
unary_negate<F> not1(F f) {
  return unary_negate<F>(f);
}
template <class F>
binary_negate<F> not2(F f) {
  return binary_negate<F>(f);
}
template <class F>
detail::Not<F> not_fn(F f) {
  return {f};
}

}  // namespace thrust
