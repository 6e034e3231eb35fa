#pragma once

#include <type_traits>

#include "convlab/simt/cuda/atomics.h"
#include "convlab/simt/warp.h"

/// CUDA's built-in atomic functions with a memory order and a scope (since CUDA 12.8). An acquire orders with releases
/// at the same address, whatever value it reads; a sequentially consistent access is an acquire and a release. Scopes
/// wider than the block's are the device's.
namespace convlab::simt::cuda {

// Macros in CUDA, too.
#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

inline void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order == __NV_ATOMIC_RELAXED || scope == __NV_THREAD_SCOPE_THREAD) return;
  thread_fence(scope == __NV_THREAD_SCOPE_BLOCK ? FenceScope::block : FenceScope::device);
}

namespace simt_detail {

constexpr AtomicOrder order_of(AtomicAccess access, int order, int scope) {
  using enum AtomicOrder::Acquire;
  const bool acquires = order != __NV_ATOMIC_RELAXED && order != __NV_ATOMIC_RELEASE;
  AtomicOrder result{.acquire = acquires ? now : at_fence, .same_address = true};
  if (access == AtomicAccess::store) result.acquire = never;
  result.releases = access != AtomicAccess::load && order >= __NV_ATOMIC_RELEASE;
  result.scope = scope == __NV_THREAD_SCOPE_THREAD  ? AtomicScope::thread
                 : scope == __NV_THREAD_SCOPE_BLOCK ? AtomicScope::block
                                                    : AtomicScope::device;
  return result;
}

/// Checks an access before it runs.
template <class T>
void begin_atomic(const volatile T* address, AtomicAccess access, int order, int scope, Where where) {
  static_assert(
      std::is_trivially_copyable_v<T> && (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8),
      "simt supports atomic types of 1, 2, 4 and 8 bytes");
  check_atomic(const_cast<const T*>(address), sizeof(T), access, order_of(access, order, scope), where);
}

/// Replaces the value by change(old) and returns the old one.
template <class T, class F>
T fetch(T* address, int order, int scope, Where where, F change) {
  begin_atomic(address, AtomicAccess::update, order, scope, where);
  T old, changed;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do {
    changed = change(old);
  } while (!__atomic_compare_exchange(address, &old, &changed, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  end_atomic(address, internal::to_bits(old) == internal::to_bits(changed));
  return old;
}

template <class T>
T wrapped_difference(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) - static_cast<std::make_unsigned_t<T>>(b));
  } else {
    return a - b;
  }
}
template <class T>
T wrapped_total(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  } else {
    return a + b;
  }
}

}  // namespace simt_detail

template <class T>
void __nv_atomic_load(const T* address, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM,
                      Where where = Where::current()) {
  simt_detail::begin_atomic(address, simt_detail::AtomicAccess::load, order, scope, where);
  T loaded;
  __atomic_load(address, &loaded, __ATOMIC_RELAXED);
  simt_detail::end_atomic(address, true);
  *value = loaded;
}
template <class T>
T __nv_atomic_load_n(const T* address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM,
                     Where where = Where::current()) {
  T value;
  __nv_atomic_load(address, &value, order, scope, where);
  return value;
}
template <class T>
void __nv_atomic_store_n(T* address, std::type_identity_t<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM,
                         Where where = Where::current()) {
  simt_detail::begin_atomic(address, simt_detail::AtomicAccess::store, order, scope, where);
  __atomic_store(address, &value, __ATOMIC_RELAXED);
  simt_detail::end_atomic(address, false);
}
template <class T>
void __nv_atomic_store(T* address, const T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM,
                       Where where = Where::current()) {
  __nv_atomic_store_n(address, *value, order, scope, where);
}
template <class T>
T __nv_atomic_exchange_n(T* address, std::type_identity_t<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM,
                         Where where = Where::current()) {
  return simt_detail::fetch(address, order, scope, where, [value](T) { return value; });
}
template <class T>
void __nv_atomic_exchange(T* address, const T* value, T* old, int order, int scope = __NV_THREAD_SCOPE_SYSTEM,
                          Where where = Where::current()) {
  *old = __nv_atomic_exchange_n(address, *value, order, scope, where);
}
/// Stores the value if *expected is there; otherwise sets *expected to what is there. Returns whether it stored.
template <class T>
bool __nv_atomic_compare_exchange_n(T* address, T* expected, std::type_identity_t<T> value, bool, int success, int,
                                    int scope = __NV_THREAD_SCOPE_SYSTEM, Where where = Where::current()) {
  simt_detail::begin_atomic(address, simt_detail::AtomicAccess::update, success, scope, where);
  T old = *expected;
  const bool stored = __atomic_compare_exchange(address, &old, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  simt_detail::end_atomic(address, !stored);
  if (!stored) *expected = old;
  return stored;
}
template <class T>
bool __nv_atomic_compare_exchange(T* address, T* expected, const T* value, bool weak, int success, int failure,
                                  int scope = __NV_THREAD_SCOPE_SYSTEM, Where where = Where::current()) {
  return __nv_atomic_compare_exchange_n(address, expected, *value, weak, success, failure, scope, where);
}

// __nv_atomic_fetch_add() returns the old value, and __nv_atomic_add() nothing.
#define CONVLAB_SIMT_NV_ATOMIC(name, ...)                                                                             \
  template <class T>                                                                                                  \
  T __nv_atomic_fetch_##name(T* address, std::type_identity_t<T> value, int order,                                    \
                             int scope = __NV_THREAD_SCOPE_SYSTEM, Where where = Where::current()) {                  \
    return simt_detail::fetch(address, order, scope, where, [value](T old) { return static_cast<T>(__VA_ARGS__); });  \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  void __nv_atomic_##name(T* address, std::type_identity_t<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM, \
                          Where where = Where::current()) {                                                           \
    __nv_atomic_fetch_##name(address, value, order, scope, where);                                                    \
  }

CONVLAB_SIMT_NV_ATOMIC(add, simt_detail::wrapped_total(old, value))
CONVLAB_SIMT_NV_ATOMIC(sub, simt_detail::wrapped_difference(old, value))
CONVLAB_SIMT_NV_ATOMIC(and, old& value)
CONVLAB_SIMT_NV_ATOMIC(or, old | value)
CONVLAB_SIMT_NV_ATOMIC(xor, old ^ value)
CONVLAB_SIMT_NV_ATOMIC(min, value < old ? value : old)
CONVLAB_SIMT_NV_ATOMIC(max, old < value ? value : old)

#undef CONVLAB_SIMT_NV_ATOMIC

}  // namespace convlab::simt::cuda
