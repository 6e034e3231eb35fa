#pragma once

#include <cstdint>

#include "convlab/device/pipeline.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// What compute capability 9.0 has beyond pipeline.cuh and CUDA C++ for multiplications by warpgroups (see
// hopper_wgmma.cuh), one instruction per function. Names and meanings are those of the PTX ISA.

/// Asks for memory that we will read soon; the address and `bytes` are multiples of 16.
inline __device__ void prefetch_bulk(const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes));
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

/// Call it before the first multiplication, once this thread has touched its accumulators.
inline __device__ void fence_multiplications() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

/// Ends a group of multiplications.
inline __device__ void commit_multiplications() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Waits for all groups of this warpgroup except the last kLeft.
template <int kLeft = 0>
__device__ void await_multiplications() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

/// Keeps the compiler from moving code that makes or takes these values across this place: it does not know that
/// running multiplications write to them until we wait for them.
template <int kCount>
__device__ void hold(float (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(values[i])::"memory");
}

/// A warpgroup's operand in shared memory, not swizzled: cores of 8 rows (or columns) by 8 terms of fp16, or 4 of
/// TF32, each 128 contiguous bytes; `next_terms` bytes from a core to that of the next terms, `next_rows` to that of
/// the next 8 rows. All are multiples of 16. Adding n to a descriptor moves it by 16 n bytes.
__host__ __device__ constexpr uint64_t operand_descriptor(uint32_t address, uint32_t next_terms, uint32_t next_rows) {
  return uint64_t{address >> 4} | uint64_t{next_terms >> 4} << 16 | uint64_t{next_rows >> 4} << 32;
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
