#pragma once

#include "convlab/kernel_file/simt_include/cuda/detail/atomic_access.h"

/// cuda::atomic, cuda::atomic_ref, cuda::atomic_flag and fences. See atomic_access.h.
namespace cuda {

namespace simt_detail {

template <class T>
class OwnValue {
 public:
  /// As in CUDA, the value of a default-constructed atomic is indeterminate: shared memory has no initializers.
  OwnValue() = default;
  constexpr OwnValue(T value) noexcept : value_(value) {}
  OwnValue(const OwnValue&) = delete;
  OwnValue& operator=(const OwnValue&) = delete;

 protected:
  T* at() const noexcept { return const_cast<T*>(&value_); }

 private:
  alignas(sizeof(T)) T value_;
};

template <class T>
class ReferredValue {
 public:
  static constexpr size_t required_alignment = sizeof(T);
  explicit ReferredValue(T& value) noexcept : value_(&value) {}

 protected:
  T* at() const noexcept { return value_; }

 private:
  T* value_;
};

}  // namespace simt_detail

template <class T, thread_scope Scope = thread_scope_system>
class atomic : public simt_detail::AtomicAccess<simt_detail::OwnValue<T>, T, Scope> {
 public:
  using simt_detail::AtomicAccess<simt_detail::OwnValue<T>, T, Scope>::AtomicAccess;
  atomic() = default;
  T operator=(simt_detail::Operand<T> value) noexcept {
    this->store(value.value, memory_order_seq_cst, value.where);
    return value.value;
  }
};

template <class T, thread_scope Scope = thread_scope_system>
class atomic_ref : public simt_detail::AtomicAccess<simt_detail::ReferredValue<T>, T, Scope> {
 public:
  using simt_detail::AtomicAccess<simt_detail::ReferredValue<T>, T, Scope>::AtomicAccess;
  atomic_ref(const atomic_ref&) = default;
  atomic_ref& operator=(const atomic_ref&) = delete;
  T operator=(simt_detail::Operand<T> value) const noexcept {
    this->store(value.value, memory_order_seq_cst, value.where);
    return value.value;
  }
};
template <class T>
atomic_ref(T&) -> atomic_ref<T>;

template <thread_scope Scope = thread_scope_system>
class atomic_flag {
 public:
  atomic_flag() = default;
  constexpr atomic_flag(bool value) noexcept : value_(value) {}

  bool test(memory_order order = memory_order_seq_cst,
            simt_detail::Where where = simt_detail::Where::current()) const noexcept {
    return value_.load(order, where) != 0;
  }
  bool test_and_set(memory_order order = memory_order_seq_cst,
                    simt_detail::Where where = simt_detail::Where::current()) noexcept {
    return value_.exchange(1, order, where) != 0;
  }
  void clear(memory_order order = memory_order_seq_cst,
             simt_detail::Where where = simt_detail::Where::current()) noexcept {
    value_.store(0, order, where);
  }
  void wait(bool old, memory_order order = memory_order_seq_cst,
            simt_detail::Where where = simt_detail::Where::current()) const noexcept {
    value_.wait(old, order, where);
  }
  void notify_one() noexcept {}
  void notify_all() noexcept {}

 private:
  atomic<int, Scope> value_;
};

inline void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) noexcept {
  __nv_atomic_thread_fence(static_cast<int>(order), simt_detail::scope_number(scope));
}
inline void atomic_signal_fence(memory_order) noexcept {}

/// The operations as functions, for objects of any scope.
#define CONVLAB_SIMT_ATOMIC_FUNCTION(name)                                                        \
  template <class T, thread_scope Scope, class Value>                                             \
  T atomic_##name(atomic<T, Scope>* object, Value value,                                          \
                  simt_detail::Where where = simt_detail::Where::current()) noexcept {            \
    return object->name(value, memory_order_seq_cst, where);                                      \
  }                                                                                               \
  template <class T, thread_scope Scope, class Value>                                             \
  T atomic_##name##_explicit(atomic<T, Scope>* object, Value value, memory_order order,           \
                             simt_detail::Where where = simt_detail::Where::current()) noexcept { \
    return object->name(value, order, where);                                                     \
  }
CONVLAB_SIMT_ATOMIC_FUNCTION(exchange)
CONVLAB_SIMT_ATOMIC_FUNCTION(fetch_add)
CONVLAB_SIMT_ATOMIC_FUNCTION(fetch_sub)
CONVLAB_SIMT_ATOMIC_FUNCTION(fetch_and)
CONVLAB_SIMT_ATOMIC_FUNCTION(fetch_or)
CONVLAB_SIMT_ATOMIC_FUNCTION(fetch_xor)
CONVLAB_SIMT_ATOMIC_FUNCTION(fetch_min)
CONVLAB_SIMT_ATOMIC_FUNCTION(fetch_max)
#undef CONVLAB_SIMT_ATOMIC_FUNCTION

template <class T, thread_scope Scope>
T atomic_load_explicit(const atomic<T, Scope>* object, memory_order order,
                       simt_detail::Where where = simt_detail::Where::current()) noexcept {
  return object->load(order, where);
}
template <class T, thread_scope Scope>
T atomic_load(const atomic<T, Scope>* object, simt_detail::Where where = simt_detail::Where::current()) noexcept {
  return object->load(memory_order_seq_cst, where);
}
template <class T, thread_scope Scope, class Value>
void atomic_store_explicit(atomic<T, Scope>* object, Value value, memory_order order,
                           simt_detail::Where where = simt_detail::Where::current()) noexcept {
  object->store(value, order, where);
}
template <class T, thread_scope Scope, class Value>
void atomic_store(atomic<T, Scope>* object, Value value,
                  simt_detail::Where where = simt_detail::Where::current()) noexcept {
  object->store(value, memory_order_seq_cst, where);
}

}  // namespace cuda
