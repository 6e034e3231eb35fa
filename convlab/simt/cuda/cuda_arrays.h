#pragma once

#include <cstddef>

#include "convlab/simt/cuda/cuda_errors.h"
#include "convlab/simt/cuda/memcpy_kind.h"
#include "convlab/simt/cuda/pitched_memory.h"
#include "convlab/simt/cuda/streams.h"
#include "convlab/simt/cuda/texel_channels.h"
#include "convlab/simt/where.h"

/// CUDA arrays: memory that textures and surfaces access, and pointers do not. The layout of a device is opaque; here
/// rows, slices and layers follow each other without gaps. Sparse and mipmapped arrays are not supported.
namespace convlab::simt::cuda {

struct cudaArray;
using cudaArray_t = cudaArray*;
using cudaArray_const_t = const cudaArray*;

inline constexpr unsigned cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2,
                          cudaArrayCubemap = 4, cudaArrayTextureGather = 8;

/// The faces of a cubemap, in the order that they have in an array.
enum cudaGraphicsCubeFace {
  cudaGraphicsCubeFacePositiveX,
  cudaGraphicsCubeFaceNegativeX,
  cudaGraphicsCubeFacePositiveY,
  cudaGraphicsCubeFaceNegativeY,
  cudaGraphicsCubeFacePositiveZ,
  cudaGraphicsCubeFaceNegativeZ,
};

/// With cudaArrayLayered, the extent's depth is the number of layers. With cudaArrayCubemap, width and height are equal
/// and the depth is 6, one for each face; with both flags it is 6 times the number of cubemaps. `name`: the source text
/// of the array's address, which names it in reports.
cudaError_t convlab_malloc_3d_array(const char* name, cudaArray_t* array, const cudaChannelFormatDesc* format,
                                    cudaExtent extent, unsigned flags = 0, Where where = Where::current()) noexcept;
inline cudaError_t convlab_malloc_array(const char* name, cudaArray_t* array, const cudaChannelFormatDesc* format,
                                        size_t width, size_t height = 0, unsigned flags = 0,
                                        Where where = Where::current()) {
  return convlab_malloc_3d_array(name, array, format, {width, height, 0}, flags, where);
}
#define cudaMallocArray(array, ...) convlab_malloc_array(#array, array, __VA_ARGS__)
#define cudaMalloc3DArray(array, ...) convlab_malloc_3d_array(#array, array, __VA_ARGS__)
cudaError_t cudaFreeArray(cudaArray_t array, Where where = Where::current()) noexcept;

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array,
                               Where where = Where::current()) noexcept;
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags, cudaArray_t array,
                             Where where = Where::current()) noexcept;

// ---- Copies. Offsets and widths along x are in bytes. ----

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind, Where where = Where::current()) noexcept;
cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind, Where where = Where::current()) noexcept;
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height,
                                     cudaMemcpyKind kind = cudaMemcpyDeviceToDevice,
                                     Where where = Where::current()) noexcept;
inline cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                            size_t width, size_t height, cudaMemcpyKind kind,
                                            cudaStream_t stream = nullptr, Where where = Where::current()) {
  runtime::on_stream(stream);
  return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind, where);
}
inline cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                              size_t width, size_t height, cudaMemcpyKind kind,
                                              cudaStream_t stream = nullptr, Where where = Where::current()) {
  runtime::on_stream(stream);
  return cudaMemcpy2DFromArray(to, pitch, from, x, y, width, height, kind, where);
}
/// Deprecated since CUDA 10.1: copies bytes from a position on, which continue in the next rows.
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind,
                              Where where = Where::current()) noexcept;
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind,
                                Where where = Where::current()) noexcept;

/// One side is an array or pitched memory. The extent's width is in elements if a side is an array, in bytes otherwise,
/// and so is x of each array's or pointer's own position.
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy, Where where = Where::current()) noexcept;
inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream = nullptr,
                                     Where where = Where::current()) {
  runtime::on_stream(stream);
  return cudaMemcpy3D(copy, where);
}

// ---- Mipmapped arrays: not supported. ----

struct cudaMipmappedArray;
using cudaMipmappedArray_t = cudaMipmappedArray*;
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t*, const cudaChannelFormatDesc*, cudaExtent, unsigned,
                                     unsigned = 0) = delete;
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t*, cudaMipmappedArray_t, unsigned) = delete;
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t) = delete;

namespace runtime {

inline constexpr int kFaces = 6;  ///< of a cubemap

/// A CUDA array or other memory as textures and surfaces see it. Sizes are in texels; a missing dimension has size 1.
struct Image {
  char* memory = nullptr;
  cudaChannelFormatDesc format = {};
  size_t width = 0, height = 1, depth = 1, layers = 1;  ///< layers: with the faces of each cubemap
  size_t pitch = 0, slice = 0;                          ///< bytes between rows, and between slices or layers
  int dimensions = 0;
  unsigned flags = 0;

  bool is_layered() const { return (flags & cudaArrayLayered) != 0; }
  bool is_cubemap() const { return (flags & cudaArrayCubemap) != 0; }
  char* row(size_t y, size_t z) const { return memory + z * slice + y * pitch; }
};

/// Returns the image of a live array; nullptr for other pointers.
const Image* image_of(cudaArray_const_t array) noexcept;

}  // namespace runtime
}  // namespace convlab::simt::cuda
