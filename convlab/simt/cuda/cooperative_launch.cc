// Decides which cooperative launches a device can run.

#include "convlab/simt/cuda/cooperative_launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/cuda/device_properties.h"
#include "convlab/simt/cuda/runtime.h"
#include "convlab/simt/symbols.h"

namespace convlab::simt::cuda {
namespace {

/// Returns how many blocks the whole device can hold, as far as threads and shared memory limit it.
int64_t resident_blocks(const void* kernel, const LaunchShape& shape) {
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  const int64_t threads = shape.block.x * shape.block.y * shape.block.z;
  const int64_t warps = (threads + kWarpSize - 1) / kWarpSize;
  int64_t blocks =
      std::min<int64_t>(device.maxBlocksPerMultiProcessor, device.maxThreadsPerMultiProcessor / (warps * kWarpSize));
  const auto& module = simt::internal::Module::of(kernel);
  const auto* const symbol = module.function_at(reinterpret_cast<uintptr_t>(kernel));
  const size_t shared = shape.shared_bytes + (symbol ? module.static_shared_bytes(*symbol) : 0);
  if (shared > 0) blocks = std::min(blocks, static_cast<int64_t>(device.sharedMemPerMultiprocessor / shared));
  return blocks * device.multiProcessorCount;
}

}  // namespace

namespace runtime {

cudaError_t residency_error(const void* kernel, const LaunchShape& shape) noexcept {
  if (refused_launch(kernel, shape, kMaxSharedBytes)) return cudaSuccess;  // launch() tells why
  const int64_t blocks = shape.grid.x * shape.grid.y * shape.grid.z, most = resident_blocks(kernel, shape);
  if (blocks <= most) return cudaSuccess;
  return failed(cudaErrorCooperativeLaunchTooLarge, "cudaLaunchCooperativeKernel", shape.where,
                fmt::format("{} blocks; the device runs at most {} of these at once", blocks, most));
}

}  // namespace runtime
}  // namespace convlab::simt::cuda
