#pragma once

#include "convlab/kernel_file/simt_include/cuda/detail/async_contract.h"

/// cuda::device: transactions of barriers, and bulk copies that they await. A bulk copy to shared memory lands when its
/// phase is over; one to global memory, and prefetches, are done at once. Fences between proxies are not checked.
/// Copies of tensors, which need a map of the driver API, are not supported.
namespace cuda::simt_detail {

/// Copies in parts of 16 bytes, as one thread; the bytes count as arrived in the barrier's current phase.
inline void bulk_copy(void* to, const void* from, std::size_t bytes, uint64_t* barrier, Where where) {
  if (!convlab::simt::is_shared_memory(to)) {
    convlab::simt::fail_assertion("the destination of a bulk copy with a barrier is shared memory", where);
  }
  const BarrierWord<__NV_THREAD_SCOPE_BLOCK> word{barrier};
  const auto phase = static_cast<unsigned>(word.read(memory_order_relaxed, where).phase);
  copy(OneThread{}, to, from, aligned_size_t<16>(bytes), barrier, phase, where);
  word.change(
      where,
      [bytes](BarrierState& state) {
        state.bytes -= bytes;
        state.settle();
      },
      memory_order_relaxed);
}

}  // namespace cuda::simt_detail

namespace cuda::device {

/// The word of a barrier in shared memory, for cuda::ptx.
inline uint64_t* barrier_native_handle(barrier<thread_scope_block>& of) {
  return simt_detail::barrier_access::word(of).word;
}

/// Arrives, and expects this many bytes more in the current phase.
[[nodiscard]] inline barrier<thread_scope_block>::arrival_token barrier_arrive_tx(
    barrier<thread_scope_block>& at, std::ptrdiff_t arrivals, std::ptrdiff_t bytes,
    simt_detail::Where where = simt_detail::Where::current()) {
  return simt_detail::barrier_access::arrive(at, static_cast<uint64_t>(arrivals), static_cast<uint64_t>(bytes), where);
}
inline void barrier_expect_tx(barrier<thread_scope_block>& at, std::ptrdiff_t bytes,
                              simt_detail::Where where = simt_detail::Where::current()) {
  simt_detail::barrier_access::word(at).change(
      where, [bytes](simt_detail::BarrierState& state) { state.bytes += static_cast<uint64_t>(bytes); },
      memory_order_relaxed);
}

template <std::size_t Alignment>
async_contract_fulfillment memcpy_async_tx(void* to, const void* from, aligned_size_t<Alignment> bytes,
                                           barrier<thread_scope_block>& until,
                                           simt_detail::Where where = simt_detail::Where::current()) {
  static_assert(Alignment >= 16, "memcpy_async_tx needs an alignment of at least 16");
  simt_detail::bulk_copy(to, from, bytes.value, barrier_native_handle(until), where);
  return async_contract_fulfillment::async;
}

namespace experimental {

inline void cp_async_bulk_global_to_shared(void* to, const void* from, std::uint32_t bytes,
                                           barrier<thread_scope_block>& until,
                                           simt_detail::Where where = simt_detail::Where::current()) {
  memcpy_async_tx(to, from, aligned_size_t<16>(bytes), until, where);
}
inline void cp_async_bulk_shared_to_global(void* to, const void* from, std::uint32_t bytes,
                                           simt_detail::Where where = simt_detail::Where::current()) {
  simt_detail::copy(simt_detail::OneThread{}, to, from, aligned_size_t<16>(bytes), nullptr, 0, where);
}
inline void cp_async_bulk_commit_group() {}
template <int Groups>
void cp_async_bulk_wait_group_read() {}
inline void fence_proxy_async_shared_cta() {}

/// Copies of tensors are not supported.
template <class... Arguments>
void cp_async_bulk_tensor_1d_global_to_shared(const Arguments&...) = delete;
template <class... Arguments>
void cp_async_bulk_tensor_2d_global_to_shared(const Arguments&...) = delete;
template <class... Arguments>
void cp_async_bulk_tensor_3d_global_to_shared(const Arguments&...) = delete;
template <class... Arguments>
void cp_async_bulk_tensor_1d_shared_to_global(const Arguments&...) = delete;
template <class... Arguments>
void cp_async_bulk_tensor_2d_shared_to_global(const Arguments&...) = delete;
template <class... Arguments>
void cp_async_bulk_tensor_3d_shared_to_global(const Arguments&...) = delete;

}  // namespace experimental
}  // namespace cuda::device
