#pragma once

#include <cstdint>

#include "convlab/device/cuda_compat.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// What compute capability 9.0 has beyond CUDA C++, an instruction a function: barriers in shared memory, bulk copies,
// and what goes with multiplications by warpgroups (see hopper_wgmma.cuh). Names and meanings are those of the PTX ISA.

/// An address in shared memory as instructions take it.
inline __device__ uint32_t shared_address(const void* in_shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(in_shared));
}

/// A barrier in shared memory that `arrivals` arrivals, and the bytes that they announced, complete. One thread
/// initialises it; a __syncthreads must follow.
inline __device__ void initialise_barrier(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

inline __device__ void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Arrives, and announces that many bytes of bulk copies.
inline __device__ void arrive_expecting(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

/// Waits until the barrier's phase of this parity (0, 1, 0, ...) is complete.
inline __device__ void wait(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

/// Copies from global to shared memory; both addresses and `bytes` are multiples of 16. The barrier is told.
inline __device__ void copy_bulk(void* to_shared, const void* from, uint32_t bytes, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to_shared)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

/// Asks for memory that will be read soon; the address and `bytes` are multiples of 16.
inline __device__ void prefetch_bulk(const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes));
}

/// Lets multiplications and bulk copies see what this thread has written to shared memory, once it is past a barrier.
inline __device__ void fence_for_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// A barrier of `threads` threads; `id` is 1 to 15.
inline __device__ void synchronize(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Takes or gives back registers, so that each thread of this warpgroup has kRegisters.
template <int kRegisters>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ void leave_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// Before the first multiplication whose accumulators this thread has touched.
inline __device__ void fence_multiplications() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

/// Ends a group of multiplications.
inline __device__ void commit_multiplications() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Waits for all groups of this warpgroup, but for the last kLeft.
template <int kLeft = 0>
__device__ void await_multiplications() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

/// Keeps the compiler from moving what makes or takes these values across this place: it does not know that
/// multiplications that were begun write to them until they are awaited.
template <int kCount>
__device__ void hold(float (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(values[i])::"memory");
}

/// A warpgroup's operand in shared memory, not swizzled: cores of 8 rows (or columns) by 8 terms of fp16, each 128
/// contiguous bytes, `next_terms` bytes from a core to that of the next 8 terms, `next_rows` to that of the next 8 rows.
/// All are multiples of 16. Adding n to a descriptor moves it by 16 n bytes.
__host__ __device__ constexpr uint64_t operand_descriptor(uint32_t address, uint32_t next_terms, uint32_t next_rows) {
  return uint64_t{address >> 4} | uint64_t{next_terms >> 4} << 16 | uint64_t{next_rows >> 4} << 32;
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
