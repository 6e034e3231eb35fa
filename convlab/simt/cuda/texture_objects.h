#pragma once

#include <cstddef>

#include "convlab/simt/cuda/cuda_arrays.h"
#include "convlab/simt/cuda/cuda_errors.h"
#include "convlab/simt/where.h"

/// Texture and surface objects. Not supported: mipmaps, resource views and sRGB; a call that needs them returns an
/// error that says so. Texture references (`texture<T, N>`) were removed in CUDA 12.
namespace convlab::simt::cuda {

enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };

inline constexpr int cudaTextureType1D = 1, cudaTextureType2D = 2, cudaTextureType3D = 3, cudaTextureTypeCubemap = 0xc,
                     cudaTextureType1DLayered = 0xf1, cudaTextureType2DLayered = 0xf2,
                     cudaTextureTypeCubemapLayered = 0xfc;

struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};

enum cudaResourceType {
  cudaResourceTypeArray,
  cudaResourceTypeMipmappedArray,
  cudaResourceTypeLinear,
  cudaResourceTypePitch2D,
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      cudaMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
    struct {
      int reserved[32];
    } reserved;
  } res;
  unsigned flags;
};
struct cudaResourceViewDesc;

using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture, const cudaResourceViewDesc* view,
                                    Where where = Where::current()) noexcept;
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object, Where where = Where::current()) noexcept;
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t object,
                                             Where where = Where::current()) noexcept;
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t object,
                                            Where where = Where::current()) noexcept;

/// The array must have been allocated with cudaArraySurfaceLoadStore.
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource,
                                    Where where = Where::current()) noexcept;
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object, Where where = Where::current()) noexcept;
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t object,
                                             Where where = Where::current()) noexcept;

namespace runtime {

/// What kernels read or write through an object.
struct ImageObject {
  unsigned long long handle = 0;
  bool is_surface = false;
  Image image;
  cudaResourceDesc resource = {};
  cudaTextureDesc texture = {};  ///< of a texture

  bool is_linear() const { return resource.resType == cudaResourceTypeLinear; }
};

/// Returns the live object of this handle; nullptr if there is none. Kernels may call it.
const ImageObject* object_of(unsigned long long handle) noexcept;

}  // namespace runtime
}  // namespace convlab::simt::cuda
