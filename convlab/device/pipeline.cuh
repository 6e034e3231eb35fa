#pragma once

#include <cstdint>

#include "convlab/device/cuda_compat.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Building blocks of multi-stage pipelines in shared memory for producer and consumer warps: addresses, asynchronous
// copies and, only on GPUs, barriers in shared memory (PTX ISA, "mbarrier"). Needs compute capability 8.0.

/// A 32-bit address in shared memory; on the host, an offset in dynamic shared memory.
using SharedAddress = uint32_t;

inline __device__ SharedAddress to_shared(const void* pointer) {
#ifdef __CUDACC__
  return static_cast<SharedAddress>(__cvta_generic_to_shared(pointer));
#else
  return static_cast<SharedAddress>(static_cast<const char*>(pointer) - dynamic_shared<char>());
#endif
}

template <class T>
__device__ T* from_shared(SharedAddress address) {
#ifdef __CUDACC__
  return static_cast<T*>(__cvta_shared_to_generic(address));
#else
  return reinterpret_cast<T*>(dynamic_shared<char>() + address);
#endif
}

/// Copies a T of 4, 8 or 16 bytes from global to shared memory; writes zeros if `exists` is false. Complete once the
/// copies have arrived at a barrier (arrive_with_copies(), on GPUs) or wait_for_copies() has returned.
template <class T>
__device__ void copy_async(SharedAddress to, const T* from, bool exists) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
#ifdef __CUDACC__
  const int bytes = exists ? sizeof(T) : 0;
  if constexpr (sizeof(T) == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(sizeof(T)), "r"(bytes)
                 : "memory");
  }
#else
  __pipeline_memcpy_async(from_shared<T>(to), from, sizeof(T), exists ? 0 : sizeof(T));
#endif
}

/// Waits for all copy_async() of this thread.
inline __device__ void wait_for_copies() {
#ifdef __CUDACC__
  asm volatile("cp.async.wait_all;" ::: "memory");
#else
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

/// Prefetches a cache line of global memory to L2.
inline __device__ void prefetch_line([[maybe_unused]] const void* line) {
#ifdef __CUDACC__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
#endif
}

/// Whether this GPU has bulk copies between shared and global memory (TMA, compute capability 9.0).
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
inline constexpr bool kBulkCopies = true;
#else
inline constexpr bool kBulkCopies = false;
#endif

/// Copies from shared to global memory (TMA) and waits until `from` has been read. Addresses and `bytes` are multiples
/// of 16. Threads that have written to `from` must have called fence_for_async() before.
inline __device__ void copy_bulk([[maybe_unused]] void* to, [[maybe_unused]] const void* from,
                                 [[maybe_unused]] int bytes) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
      "cp.async.bulk.commit_group;\n"
      "cp.async.bulk.wait_group.read 0;" ::"l"(to),
      "r"(to_shared(from)), "r"(bytes)
      : "memory");
#endif
}

/// Arrives at a barrier and announces `bytes` of bulk copies: the phase does not complete before they have arrived.
inline __device__ void barrier_arrive_expecting([[maybe_unused]] uint64_t* barrier, [[maybe_unused]] uint32_t bytes) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(to_shared(barrier)), "r"(bytes)
               : "memory");
#endif
}

/// Copies from global to shared memory (TMA) and counts the bytes at the barrier. Addresses and `bytes` are multiples
/// of 16. Called by one thread.
inline __device__ void fetch_bulk([[maybe_unused]] SharedAddress to, [[maybe_unused]] const void* from,
                                  [[maybe_unused]] uint32_t bytes, [[maybe_unused]] uint64_t* barrier) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(to_shared(barrier))
               : "memory");
#endif
}

/// Makes this thread's writes to shared memory visible to bulk copies and WGMMA (the async proxy) after a barrier.
inline __device__ void fence_for_async() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#ifdef __CUDACC__

/// Initializes a barrier that expects `arrivals` arrivals in each phase.
inline __device__ void barrier_init(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(to_shared(barrier)), "r"(arrivals) : "memory");
}

/// Arrives at a barrier, with release semantics.
inline __device__ void barrier_arrive(uint64_t* barrier) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(to_shared(barrier)) : "memory");
}

/// Arrives at a barrier when all copy_async() of this thread so far are complete.
inline __device__ void arrive_with_copies(uint64_t* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(to_shared(barrier)) : "memory");
}

/// Waits for the phase with this parity to complete: 0 for the first phase, 1 for the second, 0 for the third, ... On a
/// new barrier, a wait for parity 1 returns immediately.
inline __device__ void barrier_wait(uint64_t* barrier, uint32_t parity) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{ .reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
      "@!done bra again; }" ::"r"(to_shared(barrier)),
      "r"(parity)
      : "memory");
#else
  asm volatile(
      "{ .reg .pred done;\n"
      "again: mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n"
      "@!done bra again; }" ::"r"(to_shared(barrier)),
      "r"(parity)
      : "memory");
#endif
}

/// A barrier of `threads` threads of the block, a multiple of 32; `index` in 1..15 selects one of the block's barriers.
inline __device__ void barrier_of_some(int index, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(index), "r"(threads) : "memory");
}

#endif

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
