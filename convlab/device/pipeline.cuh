#pragma once

#include <cstdint>

#include "convlab/device/cuda_compat.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// What warps with different roles need to work on several buffers of shared memory at once: addresses, asynchronous
// copies and, on GPUs alone, barriers in shared memory (PTX ISA, "mbarrier"). Needs compute capability 8.0.

/// An address in shared memory in 32 bits; on the host, an offset in the dynamic shared memory.
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

/// Copies a T of 4, 8 or 16 bytes from global to shared memory, or zeros unless it exists. It is there once the copies
/// have arrived at a barrier (arrive_with_copies, on GPUs) or wait_for_copies() has returned.
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

/// Waits for all copy_async of this thread.
inline __device__ void wait_for_copies() {
#ifdef __CUDACC__
  asm volatile("cp.async.wait_all;" ::: "memory");
#else
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

/// Asks for a line of memory that we will read soon.
inline __device__ void prefetch_line([[maybe_unused]] const void* line) {
#ifdef __CUDACC__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
#endif
}

/// Whether this GPU copies from shared memory to global memory by itself (compute capability 9.0).
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
inline constexpr bool kBulkCopies = true;
#else
inline constexpr bool kBulkCopies = false;
#endif

/// Copies from shared to global memory, both and `bytes` multiples of 16, and waits until `from` has been read. Other
/// threads must have written there before, and then have called fence_for_async().
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

/// One arrival at a barrier, which announces so many bytes of bulk copies: the phase does not end before they arrive.
inline __device__ void barrier_arrive_expecting([[maybe_unused]] uint64_t* barrier, [[maybe_unused]] uint32_t bytes) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(to_shared(barrier)), "r"(bytes)
               : "memory");
#endif
}

/// Copies from global to shared memory, both and `bytes` multiples of 16, and tells the barrier; one thread calls it.
inline __device__ void fetch_bulk([[maybe_unused]] SharedAddress to, [[maybe_unused]] const void* from,
                                  [[maybe_unused]] uint32_t bytes, [[maybe_unused]] uint64_t* barrier) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(to_shared(barrier))
               : "memory");
#endif
}

/// Lets bulk copies, and multiplications by warpgroups, see this thread's writes to shared memory after a barrier.
inline __device__ void fence_for_async() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#ifdef __CUDACC__

/// A barrier that expects `arrivals` in each phase.
inline __device__ void barrier_init(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(to_shared(barrier)), "r"(arrivals) : "memory");
}

/// One arrival; what this thread did before comes before what waiting threads do after.
inline __device__ void barrier_arrive(uint64_t* barrier) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(to_shared(barrier)) : "memory");
}

/// One arrival as soon as all copy_async of this thread are done.
inline __device__ void arrive_with_copies(uint64_t* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(to_shared(barrier)) : "memory");
}

/// Waits for the end of the phase of this parity: 0 for the first phase, 1 for the second, 0 for the third, ... A fresh
/// barrier counts as past a phase of parity 1.
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

/// A barrier of `threads` threads of the block, whole warps; `index` 1..15 tells barriers apart.
inline __device__ void barrier_of_some(int index, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(index), "r"(threads) : "memory");
}

#endif

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
