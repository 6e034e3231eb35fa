#pragma once

#include <cstdint>

#include "convlab/kernel_file/simt_include/cuda/detail/thread_scope.h"

/// The state of a barrier, and what cuda::barrier, __mbarrier_t and pipelines do with it. Arrivals release and waits
/// acquire: the barrier orders the threads that take part as __syncthreads() would, and no others. A GPU's barriers of
/// the block have 64 bits, too, in another layout.
namespace cuda::simt_detail {

/// From the lowest bit: pending arrivals, expected arrivals, pending bytes of transactions, and the phase's number.
struct BarrierState {
  static constexpr int kBits = 20;
  static constexpr uint64_t kMost = (uint64_t{1} << kBits) - 1;

  uint64_t pending, expected, bytes, phase;

  explicit constexpr BarrierState(uint64_t word)
      : pending(word & kMost),
        expected(word >> kBits & kMost),
        bytes(word >> 2 * kBits & kMost),
        phase(word >> 3 * kBits) {}
  static constexpr uint64_t initial(uint64_t expected) { return expected | expected << kBits; }

  constexpr uint64_t word() const {
    return pending | expected << kBits | (bytes & kMost) << 2 * kBits | phase << 3 * kBits;
  }
  /// Begins the next phase if this one is complete.
  constexpr void settle() {
    if (pending != 0 || (bytes & kMost) != 0) return;
    pending = expected;
    phase = (phase + 1) & 0xf;
  }
};

/// Operations on a barrier's word, of a scope among __NV_THREAD_SCOPE_...
template <int kScope>
struct BarrierWord {
  uint64_t* word;

  BarrierState read(memory_order order, Where where) const {
    namespace own = convlab::simt::cuda::simt_detail;
    own::begin_atomic(word, own::AtomicAccess::load, static_cast<int>(order), kScope, where);
    return BarrierState(__atomic_load_n(word, __ATOMIC_RELAXED));
  }

  /// Changes the state, and returns the old one. It releases, and acquires if it completes what others began.
  template <class F>
  BarrierState change(Where where, F by, memory_order order = memory_order_release) const {
    return BarrierState(
        convlab::simt::cuda::simt_detail::fetch(word, static_cast<int>(order), kScope, where, [by](uint64_t old) {
          BarrierState state(old);
          by(state);
          return state.word();
        }));
  }

  /// Arrives, and returns the number of the phase. `drops` and `bytes`: how many arrivals later phases expect less, and
  /// how many bytes this one expects more.
  unsigned arrive(uint64_t arrivals, uint64_t drops, uint64_t bytes, Where where) const {
    const BarrierState old = change(where, [=](BarrierState& state) {
      state.expected -= drops;
      state.bytes += bytes;
      state.pending -= arrivals <= state.pending ? arrivals : state.pending;
      state.settle();
    });
    if (arrivals > old.pending) convlab::simt::fail_assertion("a barrier has no more arrivals than it expects", where);
    return static_cast<unsigned>(old.phase);
  }

  /// Returns whether the phase is complete; then its copies have landed, and what came before the arrivals happens
  /// before what the thread does now.
  bool has_passed(unsigned phase, Where where) const {
    if (read(memory_order_relaxed, where).phase == phase) return false;
    observe(phase, where);
    return true;
  }
  /// The same for the phase with this parity: the current or the last one.
  bool has_passed_parity(bool parity, Where where) const {
    const unsigned current = static_cast<unsigned>(read(memory_order_relaxed, where).phase);
    if ((current & 1) == parity) return false;
    observe((current - 1) & 0xf, where);
    return true;
  }

  void wait(unsigned phase, Where where) const {
    for (bool again = false; !has_passed(phase, where); again = true) {
      convlab::simt::wait_for_change(word, again, where);
    }
  }
  void wait_parity(bool parity, Where where) const {
    for (bool again = false; !has_passed_parity(parity, where); again = true) {
      convlab::simt::wait_for_change(word, again, where);
    }
  }
  /// Lets other threads run once if the phase is not complete.
  bool try_wait(unsigned phase, Where where) const {
    if (has_passed(phase, where)) return true;
    convlab::simt::wait_for_change(word, false, where);
    return has_passed(phase, where);
  }
  bool try_wait_parity(bool parity, Where where) const {
    if (has_passed_parity(parity, where)) return true;
    convlab::simt::wait_for_change(word, false, where);
    return has_passed_parity(parity, where);
  }

 private:
  void observe(unsigned phase, Where where) const {
    convlab::simt::land_copies(word, phase);
    read(memory_order_acquire, where);
  }
};

}  // namespace cuda::simt_detail
