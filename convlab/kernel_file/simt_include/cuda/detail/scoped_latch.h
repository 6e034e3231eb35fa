#pragma once

#include <cstddef>

#include "convlab/kernel_file/simt_include/cuda/detail/atomic_object.h"

/// cuda::latch: a barrier of one phase. It has no default constructor, so in shared memory it is built in place.
namespace cuda {

template <thread_scope Scope>
class latch {
  using Where = simt_detail::Where;

 public:
  static constexpr std::ptrdiff_t max() noexcept { return PTRDIFF_MAX; }

  explicit constexpr latch(std::ptrdiff_t expected) : left_(expected) {}
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  void count_down(std::ptrdiff_t by = 1, Where where = Where::current()) {
    if (left_.fetch_sub(by, memory_order_release, where) < by) {
      convlab::simt::fail_assertion("a latch counts down to 0 at most", where);
    }
  }
  bool try_wait(Where where = Where::current()) const { return left_.load(memory_order_acquire, where) == 0; }
  void wait(Where where = Where::current()) const {
    for (bool again = false; left_.load(memory_order_acquire, where) != 0; again = true) {
      convlab::simt::wait_for_change(&left_, again, where);
    }
  }
  void arrive_and_wait(std::ptrdiff_t by = 1, Where where = Where::current()) {
    count_down(by, where);
    wait(where);
  }

 private:
  struct Count : atomic<std::ptrdiff_t, Scope> {
    using atomic<std::ptrdiff_t, Scope>::atomic;
    std::ptrdiff_t load(memory_order order, Where where) const { return this->peek(order, where); }
  };
  Count left_;
};

}  // namespace cuda
