#pragma once

#include "convlab/device/cuda_compat.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// Kernels launched with .early = true (programmatic dependent launch) call this first: it lets blocks of the next
/// launch start as this launch's blocks finish, and waits for the writes of the previous launch.
inline __device__ void begin_in_turn() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  wait_for_launch_before();
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
