#pragma once

#include <utility>

#include "convlab/kernel_file/simt_include/cub/util_type.cuh"

/// The operators of CUB before 3.0.
namespace cub {

struct Equality {
  template <class T, class U>
  bool operator()(T&& a, U&& b) const {
    return a == b;
  }
};

struct Inequality {
  template <class T, class U>
  bool operator()(T&& a, U&& b) const {
    return a != b;
  }
};

template <class EqualityOp>
struct InequalityWrapper {
  EqualityOp op;
  explicit InequalityWrapper(EqualityOp equal) : op(equal) {}
  template <class T, class U>
  bool operator()(T&& a, U&& b) {
    return !op(a, b);
  }
};

struct Sum {
  template <class T, class U>
  constexpr auto operator()(const T& a, const U& b) const {
    return a + b;
  }
};

struct Difference {
  template <class T, class U>
  constexpr auto operator()(const T& a, const U& b) const {
    return a - b;
  }
};

struct Division {
  template <class T, class U>
  constexpr auto operator()(const T& a, const U& b) const {
    return a / b;
  }
};

struct Max {
  template <class T, class U>
  constexpr std::common_type_t<T, U> operator()(const T& a, const U& b) const {
    return a < b ? b : a;
  }
};

struct Min {
  template <class T, class U>
  constexpr std::common_type_t<T, U> operator()(const T& a, const U& b) const {
    return b < a ? b : a;
  }
};

/// The pair with the larger value; of equal ones, that with the smaller key.
struct ArgMax {
  template <class K, class V>
  KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

struct ArgMin {
  template <class K, class V>
  KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

template <class B>
struct CastOp {
  template <class A>
  B operator()(A&& a) const {
    return static_cast<B>(a);
  }
};

/// Combines pairs of a segment's number and a value: values are summed within a segment.
template <class ReductionOp>
struct ReduceBySegmentOp {
  ReductionOp op{};
  template <class Pair>
  Pair operator()(const Pair& first, const Pair& second) {
    Pair result = second;
    result.key = first.key + second.key;
    if (!second.key) result.value = op(first.value, second.value);
    return result;
  }
};

}  // namespace cub
