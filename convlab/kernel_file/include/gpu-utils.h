#pragma once

/// Replaces the course's header of this name, whose kernels only mark positions in a profile.

#include "convlab/kernel_file/include/gpu-new-forward.h"

class GPU_Utils {
 public:
  void insert_post_barrier_kernel() {}
  void insert_pre_barrier_kernel() {}
};
