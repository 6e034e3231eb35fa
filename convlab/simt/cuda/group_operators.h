#pragma once

#include <type_traits>

#include "convlab/simt/cuda/thread_groups.h"

/// Cooperative groups: the operators of reductions and scans, and updates of atomic objects with them.
namespace convlab::simt::cuda::cooperative_groups {

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
/// Returns the smaller value; greater: the larger one.
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

/// Replaces the value of a cuda::atomic or cuda::atomic_ref by op(value, operand). Returns the old value.
template <class Atomic, class T, class Operator>
T update_atomic(Atomic& atomic, T operand, Operator& op) {
  if constexpr (std::is_same_v<Operator, plus<T>> && std::is_integral_v<T>) {
    return atomic.fetch_add(operand);
  } else {
    T old = atomic.load();
    while (!atomic.compare_exchange_weak(old, op(old, operand))) {
    }
    return old;
  }
}

}  // namespace convlab::simt::cuda::cooperative_groups
