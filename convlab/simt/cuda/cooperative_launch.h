#pragma once

#include <cstddef>
#include <utility>

#include "convlab/simt/cuda/cuda_errors.h"
#include "convlab/simt/cuda/launch_calls.h"
#include "convlab/simt/where.h"

/// Cooperative launches: all blocks run at once and may wait for each other, by grid.sync() of cooperative groups or in
/// other ways. simt needs an OS thread for each block.
namespace convlab::simt::cuda {

namespace runtime {

/// Returns an error if a device cannot run all blocks of this shape at once; launch() returns other errors.
cudaError_t residency_error(const void* kernel, const LaunchShape& shape) noexcept;

}  // namespace runtime

/// `arguments`: the addresses of the kernel's arguments. The kernel's type must be known: a cast to void* directly in
/// the call is ignored, and any other untyped pointer is an error.
template <class... P>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                        Where where = Where::current()) {
  const LaunchShape shape{
      .grid = grid, .block = block, .shared_bytes = shared_bytes, .cooperative = true, .where = where};
  const cudaError_t error = runtime::residency_error(reinterpret_cast<const void*>(kernel), shape);
  if (error != cudaSuccess) return error;
  return runtime::launch_typed(kernel, shape, arguments, stream, std::index_sequence_for<P...>());
}
cudaError_t cudaLaunchCooperativeKernel(const void* untyped_kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes = 0, cudaStream_t stream = nullptr) = delete;

}  // namespace convlab::simt::cuda
