#pragma once

#include <cstdint>

#include "convlab/device/pipeline.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Instructions of compute capability 9.0 for warpgroup matrix multiplication (WGMMA, see hopper_wgmma.cuh) that neither
// pipeline.cuh nor CUDA C++ has, one per function. Terms are those of the PTX ISA.

/// Prefetches memory to L2; the address and `bytes` are multiples of 16.
inline __device__ void prefetch_bulk(const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes));
}

/// Acquires or releases registers, so that each thread of this warpgroup has kRegisters (setmaxnreg).
template <int kRegisters>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ void leave_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// Must be called before the first multiplication, after this thread has accessed its accumulators.
inline __device__ void fence_multiplications() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

/// Commits the multiplications since the last commit as a group.
inline __device__ void commit_multiplications() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Waits for all of this warpgroup's groups except the last kLeft.
template <int kLeft = 0>
__device__ void await_multiplications() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

/// Keeps the compiler from moving code that reads or writes these values across this point: it does not know that
/// asynchronous multiplications write to them until they are awaited.
template <int kCount>
__device__ void hold(float (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(values[i])::"memory");
}

/// Returns the descriptor of a WGMMA operand in shared memory, without swizzling: core matrices of 8 rows (or columns)
/// by 8 fp16 or 4 TF32 values along K, each 128 contiguous bytes. `next_k`: bytes from a core matrix to the next along
/// K; `next_rows`: bytes to the core matrix of the next 8 rows. All are multiples of 16. Adding n to a descriptor moves
/// it by 16 n bytes.
__host__ __device__ constexpr uint64_t operand_descriptor(uint32_t address, uint32_t next_k, uint32_t next_rows) {
  return uint64_t{address >> 4} | uint64_t{next_k >> 4} << 16 | uint64_t{next_rows >> 4} << 32;
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
