#pragma once

#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "convlab/kernel_file/simt_include/cuda/detail/barrier_word.h"

/// cuda::barrier. At most 2^20 - 1 arrivals are expected, whatever the scope. Threads that wait for each other forever
/// on barriers in shared memory are reported at once. try_wait_for() and try_wait_until() let the other threads run
/// once, whatever the time is.
namespace cuda {

namespace simt_detail {
struct NoCompletion {
  void operator()() const noexcept {}
};
struct barrier_access;
}  // namespace simt_detail

template <thread_scope Scope, class Completion = simt_detail::NoCompletion>
class barrier {
  using Where = simt_detail::Where;
  using Word = simt_detail::BarrierWord<simt_detail::scope_number(Scope)>;
  static constexpr bool kCompletes = !std::is_same_v<Completion, simt_detail::NoCompletion>;

 public:
  class arrival_token {
   public:
    arrival_token() = default;

   private:
    unsigned phase_ = 0;
    explicit arrival_token(unsigned phase) : phase_(phase) {}
    friend class barrier;
    friend struct simt_detail::barrier_access;
  };

  static constexpr std::ptrdiff_t max() noexcept { return simt_detail::BarrierState::kMost; }

  /// A default-constructed barrier must be initialized with init().
  barrier() = default;
  explicit barrier(std::ptrdiff_t expected, Completion completion = {}) : completion_(std::move(completion)) {
    word_ = simt_detail::BarrierState::initial(static_cast<uint64_t>(expected));
  }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  /// Other threads may use the barrier after a __syncthreads() only.
  friend void init(barrier* of, std::ptrdiff_t expected, Completion completion = {}) {
    of->completion_ = std::move(completion);
    of->word_ = simt_detail::BarrierState::initial(static_cast<uint64_t>(expected));
  }

  [[nodiscard]] arrival_token arrive(std::ptrdiff_t arrivals = 1, Where where = Where::current()) {
    return arrival_token(arrive_at(static_cast<uint64_t>(arrivals), 0, 0, where));
  }
  void wait(arrival_token&& token, Where where = Where::current()) const { word().wait(token.phase_, where); }
  void arrive_and_wait(Where where = Where::current()) { word().wait(arrive_at(1, 0, 0, where), where); }
  void arrive_and_drop(Where where = Where::current()) { arrive_at(1, 1, 0, where); }
  void wait_parity(bool parity, Where where = Where::current()) const { word().wait_parity(parity, where); }

  bool try_wait(arrival_token&& token, Where where = Where::current()) const {
    return word().try_wait(token.phase_, where);
  }
  bool try_wait_parity(bool parity, Where where = Where::current()) const {
    return word().try_wait_parity(parity, where);
  }
  template <class Duration>
  bool try_wait_for(arrival_token&& token, const Duration&, Where where = Where::current()) const {
    return word().try_wait(token.phase_, where);
  }
  template <class Time>
  bool try_wait_until(arrival_token&& token, const Time&, Where where = Where::current()) const {
    return word().try_wait(token.phase_, where);
  }
  template <class Duration>
  bool try_wait_parity_for(bool parity, const Duration&, Where where = Where::current()) const {
    return word().try_wait_parity(parity, where);
  }
  template <class Time>
  bool try_wait_parity_until(bool parity, const Time&, Where where = Where::current()) const {
    return word().try_wait_parity(parity, where);
  }

 private:
  friend struct simt_detail::barrier_access;

  Word word() const { return {const_cast<uint64_t*>(&word_)}; }

  unsigned arrive_at(uint64_t arrivals, uint64_t drops, uint64_t bytes, Where where) {
    if constexpr (!kCompletes) return word().arrive(arrivals, drops, bytes, where);
    // The last thread completes the phase when the function has returned.
    const simt_detail::BarrierState old = word().change(
        where,
        [=](simt_detail::BarrierState& state) {
          state.expected -= drops;
          state.pending -= arrivals;
        },
        memory_order_acq_rel);
    if (old.pending == arrivals) {
      completion_();
      word().change(where, [](simt_detail::BarrierState& state) { state.settle(); });
    }
    return static_cast<unsigned>(old.phase);
  }

  alignas(8) uint64_t word_;
  [[no_unique_address]] Completion completion_;
};

namespace simt_detail {

/// What copies and pipelines do with barriers.
struct barrier_access {
  template <class Barrier>
  static auto word(const Barrier& of) {
    return of.word();
  }
  template <class Barrier>
  static typename Barrier::arrival_token arrive(Barrier& at, uint64_t arrivals, uint64_t bytes, Where where) {
    return typename Barrier::arrival_token(at.arrive_at(arrivals, 0, bytes, where));
  }
  /// The number of the current phase.
  template <class Barrier>
  static unsigned phase(const Barrier& of, Where where) {
    return static_cast<unsigned>(of.word().read(memory_order_relaxed, where).phase);
  }
};

}  // namespace simt_detail
}  // namespace cuda
