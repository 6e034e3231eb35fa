#pragma once

#include <cstddef>

#include "convlab/simt/cuda/pitched_memory.h"
#include "convlab/simt/cuda/runtime.h"

/// Device memory whose rows have a pitch, and copies between devices.
namespace convlab::simt::cuda {

namespace runtime {

/// Allocates rows with a pitch of 512 bytes, as GPUs do.
cudaError_t allocate_rows(void** memory, size_t* pitch, size_t width, size_t rows, const char* name,
                          Where where) noexcept;

/// Fills rows with elements of 1, 2 or 4 bytes; `width`: elements of a row.
cudaError_t fill_elements(void* memory, size_t pitch, unsigned value, unsigned element_bytes, size_t width, size_t rows,
                          Where where) noexcept;

}  // namespace runtime

template <class T>
cudaError_t convlab_malloc_pitch(T** memory, size_t* pitch, size_t width, size_t height, const char* name,
                                 Where where = Where::current()) {
  return runtime::allocate_rows(runtime::pointer_at(memory), pitch, width, height, name, where);
}
#define cudaMallocPitch(memory, pitch, width, height) convlab_malloc_pitch(memory, pitch, width, height, #memory)

inline cudaError_t convlab_malloc_3d(cudaPitchedPtr* memory, cudaExtent extent, const char* name,
                                     Where where = Where::current()) {
  memory->xsize = extent.width;
  memory->ysize = extent.height;
  return runtime::allocate_rows(&memory->ptr, &memory->pitch, extent.width, extent.height * extent.depth, name, where);
}
#define cudaMalloc3D(memory, extent) convlab_malloc_3d(memory, extent, #memory)

cudaError_t cudaMemset2D(void* memory, size_t pitch, int byte, size_t width, size_t height,
                         Where where = Where::current()) noexcept;
cudaError_t cudaMemset2DAsync(void* memory, size_t pitch, int byte, size_t width, size_t height,
                              cudaStream_t stream = nullptr, Where where = Where::current()) noexcept;
cudaError_t cudaMemset3D(cudaPitchedPtr memory, int byte, cudaExtent extent, Where where = Where::current()) noexcept;
cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int byte, cudaExtent extent, cudaStream_t stream = nullptr,
                              Where where = Where::current()) noexcept;

/// Both devices must be 0.
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes,
                           Where where = Where::current()) noexcept;
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream = nullptr, Where where = Where::current()) noexcept;

}  // namespace convlab::simt::cuda
