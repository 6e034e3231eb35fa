#pragma once

#include <cstdio>
#include <cstdlib>

#include "convlab/simt/cuda/cuda_on_host.h"

namespace cub {

/// Prints an error with its place, and returns it.
inline cudaError_t Debug(cudaError_t error, const char* file, int line) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "CUDA error %d [%s, %d]: %s\n", static_cast<int>(error), file, line,
                 cudaGetErrorString(error));
  }
  return error;
}

}  // namespace cub

#define CubDebug(e) cub::Debug((cudaError_t)(e), __FILE__, __LINE__)
#define CubDebugExit(e) \
  if (cub::Debug((cudaError_t)(e), __FILE__, __LINE__) != cudaSuccess) exit(1)
