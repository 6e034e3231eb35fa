// Decides which cooperative launches a device can run.

#include "convlab/simt/cuda/cooperative_launch.h"

#include <fmt/format.h>

#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/cuda/device_models.h"
#include "convlab/simt/cuda/resident_blocks.h"
#include "convlab/simt/cuda/runtime.h"

namespace convlab::simt::cuda::runtime {

cudaError_t residency_error(const void* kernel, const LaunchShape& shape) noexcept {
  if (refused_launch(kernel, shape, kMaxSharedBytes)) return cudaSuccess;  // launch() tells why
  const LaunchExtent &grid = shape.grid, &block = shape.block;
  int of_multiprocessor = 0;
  const cudaError_t error =
      resident_blocks(&of_multiprocessor, kernel, static_cast<int>(block.x * block.y * block.z), shape.shared_bytes);
  if (error != cudaSuccess) return error;
  const int64_t blocks = grid.x * grid.y * grid.z, most = int64_t{of_multiprocessor} * played_device().multiprocessors;
  if (blocks <= most || most == 0) return cudaSuccess;  // launch() tells why one block is too large
  return failed(cudaErrorCooperativeLaunchTooLarge, "cudaLaunchCooperativeKernel", shape.where,
                fmt::format("{} blocks; the device runs at most {} of these at once", blocks, most));
}

}  // namespace convlab::simt::cuda::runtime
