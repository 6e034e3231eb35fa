// Computes how many blocks of a kernel are resident on a multiprocessor.

#include "convlab/simt/cuda/resident_blocks.h"

#include <algorithm>

#include "convlab/simt/cuda/kernel_symbols.h"
#include "convlab/simt/cuda/runtime.h"

namespace convlab::simt::cuda::runtime {
namespace {

/// Shared memory is allocated in units of this size: 256 bytes before compute capability 8.0, 128 since.
size_t shared_unit(const cudaDeviceProp& device) { return device.major < 8 ? 256 : 128; }

/// Returns the blocks that threads and the limit of blocks allow.
int blocks_by_threads(const cudaDeviceProp& device, int threads) {
  const int warps = (threads + device.warpSize - 1) / device.warpSize;
  return std::min(device.maxBlocksPerMultiProcessor, device.maxThreadsPerMultiProcessor / device.warpSize / warps);
}

}  // namespace

cudaError_t resident_blocks(int* blocks, const void* kernel, int threads, size_t dynamic_bytes) noexcept {
  if (blocks == nullptr || threads <= 0) return set_last_error(cudaErrorInvalidValue);
  if (!is_kernel(kernel)) return set_last_error(cudaErrorInvalidDeviceFunction);
  cudaDeviceProp device;
  if (const cudaError_t error = cudaGetDeviceProperties(&device, 0); error != cudaSuccess) return error;
  *blocks = 0;
  if (threads > device.maxThreadsPerBlock || dynamic_bytes > dynamic_limit_of(kernel)) return cudaSuccess;
  const size_t unit = shared_unit(device), used = static_shared_of(kernel) + dynamic_bytes;
  const size_t rounded = (used + device.reservedSharedMemPerBlock + unit - 1) / unit * unit;
  *blocks = blocks_by_threads(device, threads);
  if (rounded > 0) *blocks = std::min(*blocks, static_cast<int>(device.sharedMemPerMultiprocessor / rounded));
  return cudaSuccess;
}

cudaError_t dynamic_bytes_of(size_t* bytes, const void* kernel, int blocks, int threads) noexcept {
  if (bytes == nullptr || blocks <= 0 || threads <= 0) return set_last_error(cudaErrorInvalidValue);
  if (!is_kernel(kernel)) return set_last_error(cudaErrorInvalidDeviceFunction);
  cudaDeviceProp device;
  if (const cudaError_t error = cudaGetDeviceProperties(&device, 0); error != cudaSuccess) return error;
  if (threads > device.maxThreadsPerBlock || blocks > blocks_by_threads(device, threads)) {
    return set_last_error(cudaErrorInvalidValue);
  }
  const size_t unit = shared_unit(device), share = device.sharedMemPerMultiprocessor / static_cast<size_t>(blocks);
  const size_t taken = static_shared_of(kernel) + device.reservedSharedMemPerBlock;
  const size_t room = share / unit * unit;
  *bytes = std::min(room > taken ? room - taken : 0, dynamic_limit_of(kernel));
  return cudaSuccess;
}

}  // namespace convlab::simt::cuda::runtime
