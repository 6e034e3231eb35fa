#pragma once

#include <cstddef>

#include "convlab/simt/atomic_order.h"
#include "convlab/simt/cuda/cuda_bfloat16.h"
#include "convlab/simt/cuda/cuda_half.h"
#include "convlab/simt/vector_types.h"
#include "convlab/simt/where.h"

/// CUDA's atomic functions on global and shared memory. They are atomic between blocks, which run on several OS
/// threads, are checked like any other access, and never race with one another. Each returns the old value. Those with
/// the suffix _block race with those of other blocks.
namespace convlab::simt::cuda {

#define CONVLAB_SIMT_ATOMIC(name, T)                                                                            \
  T name(T* address, T value, Where = Where::current()) noexcept;                                               \
  T name##_block(T* address, T value, Where = Where::current()) noexcept;                                       \
  [[gnu::always_inline]] inline T name##_system(T* address, T value, Where where = Where::current()) noexcept { \
    return name(address, value, where);                                                                         \
  }

CONVLAB_SIMT_ATOMIC(atomicAdd, int)
CONVLAB_SIMT_ATOMIC(atomicAdd, unsigned)
CONVLAB_SIMT_ATOMIC(atomicAdd, unsigned long long)
CONVLAB_SIMT_ATOMIC(atomicAdd, float)
CONVLAB_SIMT_ATOMIC(atomicAdd, double)
CONVLAB_SIMT_ATOMIC(atomicAdd, __half)
/// Vectors: each element is atomic, but not the whole.
CONVLAB_SIMT_ATOMIC(atomicAdd, __half2)
CONVLAB_SIMT_ATOMIC(atomicAdd, __nv_bfloat16)
CONVLAB_SIMT_ATOMIC(atomicAdd, __nv_bfloat162)
CONVLAB_SIMT_ATOMIC(atomicAdd, float2)
CONVLAB_SIMT_ATOMIC(atomicAdd, float4)
CONVLAB_SIMT_ATOMIC(atomicSub, int)
CONVLAB_SIMT_ATOMIC(atomicSub, unsigned)
CONVLAB_SIMT_ATOMIC(atomicMax, int)
CONVLAB_SIMT_ATOMIC(atomicMax, unsigned)
CONVLAB_SIMT_ATOMIC(atomicMax, long long)
CONVLAB_SIMT_ATOMIC(atomicMax, unsigned long long)
CONVLAB_SIMT_ATOMIC(atomicMin, int)
CONVLAB_SIMT_ATOMIC(atomicMin, unsigned)
CONVLAB_SIMT_ATOMIC(atomicMin, long long)
CONVLAB_SIMT_ATOMIC(atomicMin, unsigned long long)
CONVLAB_SIMT_ATOMIC(atomicExch, int)
CONVLAB_SIMT_ATOMIC(atomicExch, unsigned)
CONVLAB_SIMT_ATOMIC(atomicExch, unsigned long long)
CONVLAB_SIMT_ATOMIC(atomicExch, float)
CONVLAB_SIMT_ATOMIC(atomicAnd, int)
CONVLAB_SIMT_ATOMIC(atomicAnd, unsigned)
CONVLAB_SIMT_ATOMIC(atomicAnd, unsigned long long)
CONVLAB_SIMT_ATOMIC(atomicOr, int)
CONVLAB_SIMT_ATOMIC(atomicOr, unsigned)
CONVLAB_SIMT_ATOMIC(atomicOr, unsigned long long)
CONVLAB_SIMT_ATOMIC(atomicXor, int)
CONVLAB_SIMT_ATOMIC(atomicXor, unsigned)
CONVLAB_SIMT_ATOMIC(atomicXor, unsigned long long)
/// atomicInc counts up to `value`, then from 0 again; atomicDec counts down to 0, then from `value` again.
CONVLAB_SIMT_ATOMIC(atomicInc, unsigned)
CONVLAB_SIMT_ATOMIC(atomicDec, unsigned)

#undef CONVLAB_SIMT_ATOMIC
#define CONVLAB_SIMT_CAS(name, T)                                                          \
  T name(T* address, T expected, T value, Where = Where::current()) noexcept;              \
  T name##_block(T* address, T expected, T value, Where = Where::current()) noexcept;      \
  [[gnu::always_inline]] inline T name##_system(T* address, T expected, T value,           \
                                                Where where = Where::current()) noexcept { \
    return name(address, expected, value, where);                                          \
  }

CONVLAB_SIMT_CAS(atomicCAS, int)
CONVLAB_SIMT_CAS(atomicCAS, unsigned)
CONVLAB_SIMT_CAS(atomicCAS, unsigned short)
CONVLAB_SIMT_CAS(atomicCAS, unsigned long long)

#undef CONVLAB_SIMT_CAS

namespace simt_detail {

/// Checks an atomic access as the kernel's own: one that reads, writes, or does both.
enum class AtomicAccess : unsigned char { load, store, update };
void check_atomic(const void* address, size_t bytes, AtomicAccess access, const AtomicOrder& order,
                  Where where) noexcept;

/// The access has run. If the thread repeats one that leaves the memory unchanged, it waits: other threads run.
void end_atomic(const void* address, bool unchanged) noexcept;

}  // namespace simt_detail
}  // namespace convlab::simt::cuda
