#pragma once

#include <bit>

#include "convlab/kernel_file/simt_include/cuda/detail/bulk_copies.h"

/// cuda::ptx: what kernels use of barriers in shared memory, bulk copies and special registers. Scopes of a cluster are
/// those of the block. Fences of proxies and of a barrier's initialization are not checked.
namespace cuda::ptx {

using Where = simt_detail::Where;

struct sem_acquire_t {};
struct sem_release_t {};
struct sem_relaxed_t {};
struct scope_cta_t {};
struct scope_cluster_t {};
struct scope_gpu_t {};
struct scope_sys_t {};
struct space_shared_t {};
struct space_cluster_t {};
struct space_global_t {};
inline constexpr sem_acquire_t sem_acquire{};
inline constexpr sem_release_t sem_release{};
inline constexpr sem_relaxed_t sem_relaxed{};
inline constexpr scope_cta_t scope_cta{};
inline constexpr scope_cluster_t scope_cluster{};
inline constexpr scope_gpu_t scope_gpu{};
inline constexpr scope_sys_t scope_sys{};
inline constexpr space_shared_t space_shared{};
inline constexpr space_cluster_t space_cluster{};
inline constexpr space_global_t space_global{};

inline simt_detail::BarrierWord<__NV_THREAD_SCOPE_BLOCK> word_of(uint64_t* barrier) { return {barrier}; }
inline uint64_t token_of(unsigned phase) {
  simt_detail::BarrierState state(0);
  state.phase = phase;
  return state.word();
}
inline unsigned phase_of(uint64_t token) { return static_cast<unsigned>(simt_detail::BarrierState(token).phase); }

inline void mbarrier_init(uint64_t* barrier, const uint32_t& expected) {
  *barrier = simt_detail::BarrierState::initial(expected);
}
inline void mbarrier_inval(uint64_t* barrier) { *barrier = 0; }
inline uint64_t mbarrier_arrive(uint64_t* barrier, Where where = Where::current()) {
  return token_of(word_of(barrier).arrive(1, 0, 0, where));
}
template <class Scope>
uint64_t mbarrier_arrive(sem_release_t, Scope, space_shared_t, uint64_t* barrier, Where where = Where::current()) {
  return mbarrier_arrive(barrier, where);
}
template <class Scope>
uint64_t mbarrier_arrive_expect_tx(sem_release_t, Scope, space_shared_t, uint64_t* barrier, const uint32_t& bytes,
                                   Where where = Where::current()) {
  return token_of(word_of(barrier).arrive(1, 0, bytes, where));
}
template <class Scope>
void mbarrier_expect_tx(sem_relaxed_t, Scope, space_shared_t, uint64_t* barrier, uint32_t bytes,
                        Where where = Where::current()) {
  word_of(barrier).change(
      where, [bytes](simt_detail::BarrierState& state) { state.bytes += bytes; }, memory_order_relaxed);
}
/// All let the other threads run once if the phase is not complete.
inline bool mbarrier_test_wait(uint64_t* barrier, const uint64_t& token, Where where = Where::current()) {
  return word_of(barrier).try_wait(phase_of(token), where);
}
inline bool mbarrier_try_wait(uint64_t* barrier, const uint64_t& token, Where where = Where::current()) {
  return word_of(barrier).try_wait(phase_of(token), where);
}
inline bool mbarrier_test_wait_parity(uint64_t* barrier, const uint32_t& parity, Where where = Where::current()) {
  return word_of(barrier).try_wait_parity((parity & 1) != 0, where);
}
inline bool mbarrier_try_wait_parity(uint64_t* barrier, const uint32_t& parity, Where where = Where::current()) {
  return word_of(barrier).try_wait_parity((parity & 1) != 0, where);
}

template <class Space>
requires(!std::is_same_v<Space, space_global_t>) void cp_async_bulk(Space, space_global_t, void* to, const void* from,
                                                                    const uint32_t& bytes, uint64_t* barrier,
                                                                    Where where = Where::current()) {
  simt_detail::bulk_copy(to, from, bytes, barrier, where);
}
inline void cp_async_bulk(space_global_t, space_shared_t, void* to, const void* from, const uint32_t& bytes,
                          Where where = Where::current()) {
  simt_detail::copy(simt_detail::OneThread{}, to, from, aligned_size_t<16>(bytes), nullptr, 0, where);
}
inline void cp_async_bulk_commit_group() {}
template <class Groups>
void cp_async_bulk_wait_group(Groups) {}
template <class Groups>
void cp_async_bulk_wait_group_read(Groups) {}
template <int N>
using n32_t = std::integral_constant<int, N>;

inline void fence_proxy_async() {}
template <class Space>
void fence_proxy_async(Space) {}
inline void fence_mbarrier_init(sem_release_t, scope_cluster_t) {}

inline uint32_t get_sreg_tid_x() { return threadIdx.x; }
inline uint32_t get_sreg_ctaid_x() { return blockIdx.x; }
inline uint32_t get_sreg_ntid_x() { return blockDim.x; }
inline uint32_t get_sreg_nctaid_x() { return gridDim.x; }
inline uint32_t get_sreg_laneid() { return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32; }

/// Chooses the lowest lane of the mask, once all of its lanes have called it.
inline bool elect_sync(const uint32_t& mask, Where where = Where::current()) {
  const unsigned lanes = __ballot_sync(mask, 1, where);
  return get_sreg_laneid() == static_cast<uint32_t>(std::countr_zero(lanes));
}

}  // namespace cuda::ptx
