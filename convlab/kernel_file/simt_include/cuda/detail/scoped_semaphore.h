#pragma once

#include <cstddef>

#include "convlab/kernel_file/simt_include/cuda/detail/atomic_object.h"

/// cuda::counting_semaphore and cuda::binary_semaphore. The timed functions let the other threads run once, whatever
/// the time is.
namespace cuda {

template <thread_scope Scope, std::ptrdiff_t LeastMax = PTRDIFF_MAX>
class counting_semaphore {
  using Where = simt_detail::Where;

 public:
  static constexpr std::ptrdiff_t max() noexcept { return LeastMax; }

  /// In shared memory, which has no initializers, it is built in place.
  constexpr counting_semaphore(std::ptrdiff_t count = 0) : count_(count) {}
  counting_semaphore(const counting_semaphore&) = delete;
  counting_semaphore& operator=(const counting_semaphore&) = delete;

  void release(std::ptrdiff_t by = 1, Where where = Where::current()) {
    if (count_.fetch_add(by, memory_order_release, where) > LeastMax - by) {
      convlab::simt::fail_assertion("a semaphore counts up to max() at most", where);
    }
  }
  void acquire(Where where = Where::current()) {
    for (bool again = false; !count_.take(where); again = true) convlab::simt::wait_for_change(&count_, again, where);
  }
  bool try_acquire(Where where = Where::current()) { return count_.take(where); }
  template <class Duration>
  bool try_acquire_for(const Duration&, Where where = Where::current()) {
    return try_acquire_later(where);
  }
  template <class Time>
  bool try_acquire_until(const Time&, Where where = Where::current()) {
    return try_acquire_later(where);
  }

 private:
  struct Count : atomic<std::ptrdiff_t, Scope> {
    using atomic<std::ptrdiff_t, Scope>::atomic;
    /// Counts down unless the count is 0.
    bool take(Where where) {
      std::ptrdiff_t count = this->peek(memory_order_relaxed, where);
      return count > 0 && this->compare_exchange_strong(count, count - 1, memory_order_acquire, where);
    }
  };
  bool try_acquire_later(Where where) {
    if (count_.take(where)) return true;
    convlab::simt::wait_for_change(&count_, false, where);
    return count_.take(where);
  }

  Count count_;
};

template <thread_scope Scope>
using binary_semaphore = counting_semaphore<Scope, 1>;

}  // namespace cuda
