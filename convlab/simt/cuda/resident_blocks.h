#pragma once

#include <cstddef>

#include "convlab/simt/cuda/function_attributes.h"

/// Occupancy: how many blocks of a kernel a multiprocessor of the device holds. Threads, blocks and shared memory limit
/// it; registers do not, as simt does not know them.
namespace convlab::simt::cuda {

inline constexpr unsigned cudaOccupancyDefault = 0, cudaOccupancyDisableCachingOverride = 1;

namespace runtime {

cudaError_t resident_blocks(int* blocks, const void* kernel, int threads, size_t dynamic_bytes) noexcept;
/// Returns the largest dynamic shared memory with which `blocks` blocks are resident.
cudaError_t dynamic_bytes_of(size_t* bytes, const void* kernel, int blocks, int threads) noexcept;

/// The block size with the most resident threads, the largest if there are several, and the smallest grid that fills
/// the device. `limit`: 0 or the largest block size allowed.
template <class BytesOf>
cudaError_t best_block(int* grid, int* block, const void* kernel, const BytesOf& bytes_of, int limit) {
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, 0); error != cudaSuccess) return error;
  const int most = limit > 0 && limit < properties.maxThreadsPerBlock ? limit : properties.maxThreadsPerBlock;
  int best = 0;
  *grid = *block = 0;
  const int warp = properties.warpSize;
  for (int size = (most + warp - 1) / warp * warp; size > 0; size -= warp) {
    const int threads = size < most ? size : most;
    int blocks = 0;
    const cudaError_t error = resident_blocks(&blocks, kernel, threads, static_cast<size_t>(bytes_of(threads)));
    if (error != cudaSuccess) return error;
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    *block = threads;
    *grid = blocks * properties.multiProcessorCount;
    if (best >= properties.maxThreadsPerMultiProcessor) break;
  }
  return cudaSuccess;
}

}  // namespace runtime

template <class Function>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* kernel, int threads,
                                                          size_t dynamic_bytes) {
  return runtime::resident_blocks(blocks, reinterpret_cast<const void*>(kernel), threads, dynamic_bytes);
}
template <class Function>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Function* kernel, int threads,
                                                                   size_t dynamic_bytes, unsigned) {
  return runtime::resident_blocks(blocks, reinterpret_cast<const void*>(kernel), threads, dynamic_bytes);
}
template <class Function>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, Function* kernel, int blocks, int threads) {
  return runtime::dynamic_bytes_of(bytes, reinterpret_cast<const void*>(kernel), blocks, threads);
}

/// `bytes_of`: returns the dynamic shared memory of a block of this size.
template <class BytesOf, class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, Function* kernel, BytesOf bytes_of,
                                                           int limit = 0) {
  return runtime::best_block(grid, block, reinterpret_cast<const void*>(kernel), bytes_of, limit);
}
template <class BytesOf, class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* grid, int* block, Function* kernel,
                                                                    BytesOf bytes_of, int limit = 0, unsigned = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, bytes_of, limit);
}
template <class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Function* kernel, size_t dynamic_bytes = 0,
                                               int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, kernel, [=](int) { return dynamic_bytes; }, limit);
}
template <class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, Function* kernel,
                                                        size_t dynamic_bytes = 0, int limit = 0, unsigned = 0) {
  return cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, dynamic_bytes, limit);
}

}  // namespace convlab::simt::cuda
