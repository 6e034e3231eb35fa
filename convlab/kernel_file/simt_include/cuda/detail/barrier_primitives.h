#pragma once

#include "convlab/kernel_file/simt_include/cuda/detail/barrier_word.h"

/// Barriers in shared memory as words: <cuda_awbarrier_primitives.h>, and what <cuda_pipeline_primitives.h> does with
/// them. See barrier_word.h.
using __mbarrier_t = uint64_t;
using __mbarrier_token_t = uint64_t;

namespace cuda::simt_detail {
inline BarrierWord<__NV_THREAD_SCOPE_BLOCK> block_barrier(__mbarrier_t* word) { return {word}; }
}  // namespace cuda::simt_detail

inline uint32_t __mbarrier_maximum_count() { return cuda::simt_detail::BarrierState::kMost; }
inline void __mbarrier_init(__mbarrier_t* barrier, uint32_t expected) {
  *barrier = cuda::simt_detail::BarrierState::initial(expected);
}
inline void __mbarrier_inval(__mbarrier_t* barrier) { *barrier = 0; }

/// The token holds the state before the arrival.
inline __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier,
                                            convlab::simt::Where where = convlab::simt::Where::current()) {
  cuda::simt_detail::BarrierState state(0);
  state.pending = cuda::simt_detail::block_barrier(barrier).read(cuda::memory_order_relaxed, where).pending - 1;
  state.phase = cuda::simt_detail::block_barrier(barrier).arrive(1, 0, 0, where);
  return state.word();
}
inline __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier,
                                                     convlab::simt::Where where = convlab::simt::Where::current()) {
  cuda::simt_detail::BarrierState state(0);
  state.pending = cuda::simt_detail::block_barrier(barrier).read(cuda::memory_order_relaxed, where).pending - 1;
  state.phase = cuda::simt_detail::block_barrier(barrier).arrive(1, 1, 0, where);
  return state.word();
}
inline uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token) {
  return static_cast<uint32_t>(cuda::simt_detail::BarrierState(token).pending);
}

/// All let the other threads run once if the phase is not complete.
inline bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token,
                                 convlab::simt::Where where = convlab::simt::Where::current()) {
  const auto phase = static_cast<unsigned>(cuda::simt_detail::BarrierState(token).phase);
  return cuda::simt_detail::block_barrier(barrier).try_wait(phase, where);
}
inline bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity,
                                        convlab::simt::Where where = convlab::simt::Where::current()) {
  return cuda::simt_detail::block_barrier(barrier).try_wait_parity(parity, where);
}
inline bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, uint32_t,
                                convlab::simt::Where where = convlab::simt::Where::current()) {
  return __mbarrier_test_wait(barrier, token, where);
}
inline bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, uint32_t,
                                       convlab::simt::Where where = convlab::simt::Where::current()) {
  return __mbarrier_test_wait_parity(barrier, parity, where);
}

/// The barrier's phase awaits the copies that the thread has started, and its arrival.
inline void __pipeline_arrive_on(__mbarrier_t* barrier, convlab::simt::Where where = convlab::simt::Where::current()) {
  const auto word = cuda::simt_detail::block_barrier(barrier);
  const auto phase = static_cast<unsigned>(word.read(cuda::memory_order_relaxed, where).phase);
  convlab::simt::await_copies(barrier, phase);
}
