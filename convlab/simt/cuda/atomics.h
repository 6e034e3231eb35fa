#pragma once

#include "convlab/simt/where.h"

/// CUDA's atomic functions on global and shared memory. They are atomic between blocks, which run on several OS
/// threads, are checked like any other access, and never race with one another. Each returns the old value.
namespace convlab::simt::cuda {

#define CONVLAB_SIMT_ATOMIC(name, T) T name(T* address, T value, Where = Where::current()) noexcept;

CONVLAB_SIMT_ATOMIC(atomicAdd, int)
CONVLAB_SIMT_ATOMIC(atomicAdd, unsigned)
CONVLAB_SIMT_ATOMIC(atomicAdd, unsigned long long)
CONVLAB_SIMT_ATOMIC(atomicAdd, float)
CONVLAB_SIMT_ATOMIC(atomicAdd, double)
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
CONVLAB_SIMT_ATOMIC(atomicOr, int)
CONVLAB_SIMT_ATOMIC(atomicOr, unsigned)
CONVLAB_SIMT_ATOMIC(atomicXor, int)
CONVLAB_SIMT_ATOMIC(atomicXor, unsigned)
/// atomicInc counts up to `value`, then from 0 again; atomicDec counts down to 0, then from `value` again.
CONVLAB_SIMT_ATOMIC(atomicInc, unsigned)
CONVLAB_SIMT_ATOMIC(atomicDec, unsigned)

#undef CONVLAB_SIMT_ATOMIC
#define CONVLAB_SIMT_ATOMIC(T) T atomicCAS(T* address, T expected, T value, Where = Where::current()) noexcept;

CONVLAB_SIMT_ATOMIC(int)
CONVLAB_SIMT_ATOMIC(unsigned)
CONVLAB_SIMT_ATOMIC(unsigned short)
CONVLAB_SIMT_ATOMIC(unsigned long long)

#undef CONVLAB_SIMT_ATOMIC

}  // namespace convlab::simt::cuda
