#pragma once

#include "convlab/device/cuda_compat.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// What kernels that are launched with .early = true begin with: blocks of the next launch may begin where this one's
/// have ended, and this one waits for what the launch before has written.
inline __device__ void begin_in_turn() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  wait_for_launch_before();
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
