#pragma once

#include "convlab/simt/vector_types.h"

/// The variables that kernels see as threadIdx, blockIdx, blockDim and gridDim (see warp.h), as simt sets them.
namespace convlab::simt::internal {

extern __thread cuda::uint3 thread_index __asm__("convlab_simt_thread_index");
extern __thread cuda::uint3 block_index __asm__("convlab_simt_block_index");
extern __thread cuda::uint3 block_extent __asm__("convlab_simt_block_extent");
extern __thread cuda::uint3 grid_extent __asm__("convlab_simt_grid_extent");

}  // namespace convlab::simt::internal
