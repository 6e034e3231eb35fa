#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "convlab/kernel_file/simt_include/cuda/detail/thread_scope.h"

/// What cuda::atomic and cuda::atomic_ref have in common. Each access is checked as CUDA's own atomic functions are,
/// with its memory order and scope: those of the block's scope race with those of other blocks, and those of the
/// thread's scope with those of other threads. Types have 1, 2, 4 or 8 bytes; a GPU also has 16.
namespace cuda::simt_detail {

template <class T>
bool same_bits(const T& a, const T& b) {
  return convlab::simt::internal::to_bits(a) == convlab::simt::internal::to_bits(b);
}

/// `Storage` holds the value or a pointer to it, and at() returns its address.
template <class Storage, class T, thread_scope Scope>
class AtomicAccess : public Storage {
  static_assert(std::is_trivially_copyable_v<T>, "atomic types must be trivially copyable");
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                "simt supports atomic types of 1, 2, 4 and 8 bytes");
  static constexpr int kScope = scope_number(Scope);
  static constexpr bool kAdds = std::is_pointer_v<T> || (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
  static constexpr bool kHasBits = std::is_integral_v<T> && !std::is_same_v<T, bool>;

 public:
  using value_type = T;
  using difference_type = std::conditional_t<std::is_pointer_v<T>, std::ptrdiff_t, T>;
  static constexpr bool is_always_lock_free = true;

  using Storage::Storage;

  bool is_lock_free() const noexcept { return true; }

  T load(memory_order order = memory_order_seq_cst, Where where = Where::current()) const noexcept {
    const T value = peek(order, where);
    convlab::simt::cuda::simt_detail::end_atomic(this->at(), true);
    return value;
  }
  void store(T value, memory_order order = memory_order_seq_cst, Where where = Where::current()) const noexcept {
    __nv_atomic_store_n(this->at(), value, static_cast<int>(order), kScope, where);
  }
  T exchange(T value, memory_order order = memory_order_seq_cst, Where where = Where::current()) const noexcept {
    return change(order, where, [value](T) { return value; });
  }

  bool compare_exchange_strong(T& expected, T value, memory_order success, memory_order failure,
                               Where where = Where::current()) const noexcept {
    return __nv_atomic_compare_exchange_n(this->at(), &expected, value, false, static_cast<int>(success),
                                          static_cast<int>(failure), kScope, where);
  }
  bool compare_exchange_strong(T& expected, T value, memory_order order = memory_order_seq_cst,
                               Where where = Where::current()) const noexcept {
    return compare_exchange_strong(expected, value, order, order, where);
  }
  /// Never fails without a reason.
  bool compare_exchange_weak(T& expected, T value, memory_order success, memory_order failure,
                             Where where = Where::current()) const noexcept {
    return compare_exchange_strong(expected, value, success, failure, where);
  }
  bool compare_exchange_weak(T& expected, T value, memory_order order = memory_order_seq_cst,
                             Where where = Where::current()) const noexcept {
    return compare_exchange_strong(expected, value, order, order, where);
  }

  T fetch_add(difference_type value, memory_order order = memory_order_seq_cst,
              Where where = Where::current()) const noexcept requires kAdds {
    return change(order, where, [value](T old) { return sum(old, value); });
  }
  T fetch_sub(difference_type value, memory_order order = memory_order_seq_cst,
              Where where = Where::current()) const noexcept requires kAdds {
    return change(order, where, [value](T old) { return difference(old, value); });
  }
  T fetch_min(T value, memory_order order = memory_order_seq_cst,
              Where where = Where::current()) const noexcept requires kAdds {
    return change(order, where, [value](T old) { return value < old ? value : old; });
  }
  T fetch_max(T value, memory_order order = memory_order_seq_cst,
              Where where = Where::current()) const noexcept requires kAdds {
    return change(order, where, [value](T old) { return old < value ? value : old; });
  }
  T fetch_and(T value, memory_order order = memory_order_seq_cst,
              Where where = Where::current()) const noexcept requires kHasBits {
    return change(order, where, [value](T old) { return static_cast<T>(old & value); });
  }
  T fetch_or(T value, memory_order order = memory_order_seq_cst,
             Where where = Where::current()) const noexcept requires kHasBits {
    return change(order, where, [value](T old) { return static_cast<T>(old | value); });
  }
  T fetch_xor(T value, memory_order order = memory_order_seq_cst,
              Where where = Where::current()) const noexcept requires kHasBits {
    return change(order, where, [value](T old) { return static_cast<T>(old ^ value); });
  }

  operator T() const noexcept { return load(memory_order_seq_cst); }
  T operator+=(Operand<difference_type> by) const noexcept requires kAdds {
    return sum(fetch_add(by.value, memory_order_seq_cst, by.where), by.value);
  }
  T operator-=(Operand<difference_type> by) const noexcept requires kAdds {
    return difference(fetch_sub(by.value, memory_order_seq_cst, by.where), by.value);
  }
  T operator&=(Operand<T> by) const noexcept requires kHasBits {
    return static_cast<T>(fetch_and(by.value, memory_order_seq_cst, by.where) & by.value);
  }
  T operator|=(Operand<T> by) const noexcept requires kHasBits {
    return static_cast<T>(fetch_or(by.value, memory_order_seq_cst, by.where) | by.value);
  }
  T operator^=(Operand<T> by) const noexcept requires kHasBits {
    return static_cast<T>(fetch_xor(by.value, memory_order_seq_cst, by.where) ^ by.value);
  }
  T operator++() const noexcept requires kAdds { return sum(fetch_add(1), difference_type(1)); }
  T operator++(int) const noexcept requires kAdds { return fetch_add(1); }
  T operator--() const noexcept requires kAdds { return difference(fetch_sub(1), difference_type(1)); }
  T operator--(int) const noexcept requires kAdds { return fetch_sub(1); }

  /// Waits until the value differs from `old`. It need not be notified.
  void wait(T old, memory_order order = memory_order_seq_cst, Where where = Where::current()) const noexcept {
    for (bool again = false; same_bits(peek(order, where), old); again = true) {
      convlab::simt::wait_for_change(this->at(), again, where);
    }
  }
  void notify_one() const noexcept {}
  void notify_all() const noexcept {}

 protected:
  T peek(memory_order order, Where where) const noexcept {
    namespace own = convlab::simt::cuda::simt_detail;
    own::begin_atomic(this->at(), own::AtomicAccess::load, static_cast<int>(order), kScope, where);
    T value;
    __atomic_load(this->at(), &value, __ATOMIC_RELAXED);
    return value;
  }
  template <class F>
  T change(memory_order order, Where where, F by) const noexcept {
    return convlab::simt::cuda::simt_detail::fetch(this->at(), static_cast<int>(order), kScope, where, by);
  }

 private:
  static T sum(T old, difference_type value) {
    if constexpr (std::is_pointer_v<T>) return old + value;
    if constexpr (!std::is_pointer_v<T>) return convlab::simt::cuda::simt_detail::wrapped_total(old, value);
  }
  static T difference(T old, difference_type value) {
    if constexpr (std::is_pointer_v<T>) return old - value;
    if constexpr (!std::is_pointer_v<T>) return convlab::simt::cuda::simt_detail::wrapped_difference(old, value);
  }
};

}  // namespace cuda::simt_detail
