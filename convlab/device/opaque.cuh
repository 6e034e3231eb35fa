#pragma once

#include "convlab/device/cuda_compat.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// Hides the origin of a 32-bit number or an address from the compiler, which then keeps the value instead of
/// recomputing it at each use.
template <class T>
__device__ void opaque(T& number) {
  static_assert(sizeof(T) == 4);
  asm volatile("" : "+r"(number));
}

template <class T>
__device__ void opaque(T*& address) {
#ifdef __CUDACC__
  asm volatile("" : "+l"(address));
#else
  asm volatile("" : "+r"(address));
#endif
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
