#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "convlab/simt/cuda/texture_objects.h"
#include "convlab/simt/where.h"

/// Reads of textures in kernels, with the addressing and filtering that the CUDA C++ Programming Guide documents under
/// "Texture Fetching": fractions of coordinates have 8 bits. A GPU computes coordinates and weights with a precision
/// that is not documented, so results may differ from a GPU's in the last bits.
///
/// Each texel that contributes to a result is checked as a load of the kernel. A texel with weight 0 is not read.
///
/// A cubemap is read in a direction, and filtered within the face that this goes through, with the texture's address
/// modes; with seamlessCubemap, linear filtering goes on in the next face. At a corner, where only three faces meet,
/// the fourth texel is the mean of the other three: CUDA does not document it.
///
/// Mipmaps are not supported, so levels and gradients have no effect. Reads see what the same kernel wrote before; on a
/// GPU that is undefined.
namespace convlab::simt::cuda {
namespace runtime {

/// Where a kernel reads a texture: at x, y and z, or a cubemap in this direction. `dimensions` does not count layers or
/// faces.
struct TextureRead {
  const char* call;
  int dimensions;
  bool is_layered = false, is_cubemap = false;
  float x, y = 0.0f, z = 0.0f;
  int layer = 0;
  bool wants_float = false, is_signed = false;
};

/// The channels of a texel: floats, or integers extended to 32 bits. Missing ones are 0, as on an H200.
struct Texel {
  uint32_t bits[4];
};

Texel read_texture(cudaTextureObject_t object, const TextureRead& read, Where where) noexcept;
Texel fetch_texture(cudaTextureObject_t object, int x, const TextureRead& read, Where where) noexcept;
/// One channel of the four texels that linear filtering would read: those at (i, j + 1), (i + 1, j + 1), (i + 1, j) and
/// (i, j).
Texel gather_texture(cudaTextureObject_t object, const TextureRead& read, int channel, Where where) noexcept;

template <class T>
constexpr TextureRead as(TextureRead read) {
  static_assert(is_texel<T>,
                "textures are read as char, short, int or float, signed or unsigned, or a vector of 1, 2 or 4 of them");
  using Scalar = typename Channels<T>::Scalar;
  read.wants_float = std::is_floating_point_v<Scalar>;
  read.is_signed = std::is_signed_v<Scalar>;
  return read;
}

template <class Scalar>
Scalar channel_as(uint32_t bits) {
  if constexpr (std::is_same_v<Scalar, float>) {
    return std::bit_cast<float>(bits);
  } else {
    return static_cast<Scalar>(bits);
  }
}

template <class T>
T texel_as(const Texel& texel) {
  using Scalar = typename Channels<T>::Scalar;
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(channel_as<Scalar>(texel.bits[0]));
  } else if constexpr (Channels<T>::kCount == 1) {
    return {channel_as<Scalar>(texel.bits[0])};
  } else if constexpr (Channels<T>::kCount == 2) {
    return {channel_as<Scalar>(texel.bits[0]), channel_as<Scalar>(texel.bits[1])};
  } else {
    return {channel_as<Scalar>(texel.bits[0]), channel_as<Scalar>(texel.bits[1]), channel_as<Scalar>(texel.bits[2]),
            channel_as<Scalar>(texel.bits[3])};
  }
}

}  // namespace runtime

/// Reads the texel with this index of linear memory. Outside, it reads 0.
template <class T>
T tex1Dfetch(cudaTextureObject_t object, int x, Where where = Where::current()) {
  constexpr auto kRead = runtime::as<T>({.call = "tex1Dfetch", .dimensions = 1, .x = 0.0f});
  return runtime::texel_as<T>(runtime::fetch_texture(object, x, kRead, where));
}

// Each function and its form that stores through a pointer. In parentheses: parameters, fields of the read, arguments.
#define CONVLAB_SIMT_LIST(...) __VA_ARGS__
#define CONVLAB_SIMT_TEXTURE(name, parameters, fields, arguments)                                                  \
  template <class T>                                                                                               \
  T name(cudaTextureObject_t object, CONVLAB_SIMT_LIST parameters, Where where = Where::current()) {               \
    const auto read = runtime::as<T>({.call = #name, CONVLAB_SIMT_LIST fields});                                   \
    return runtime::texel_as<T>(runtime::read_texture(object, read, where));                                       \
  }                                                                                                                \
  template <class T>                                                                                               \
  void name(T* result, cudaTextureObject_t object, CONVLAB_SIMT_LIST parameters, Where where = Where::current()) { \
    *result = name<T>(object, CONVLAB_SIMT_LIST arguments, where);                                                 \
  }

CONVLAB_SIMT_TEXTURE(tex1D, (float x), (.dimensions = 1, .x = x), (x))
CONVLAB_SIMT_TEXTURE(tex2D, (float x, float y), (.dimensions = 2, .x = x, .y = y), (x, y))
CONVLAB_SIMT_TEXTURE(tex3D, (float x, float y, float z), (.dimensions = 3, .x = x, .y = y, .z = z), (x, y, z))
CONVLAB_SIMT_TEXTURE(tex1DLayered, (float x, int layer), (.dimensions = 1, .is_layered = true, .x = x, .layer = layer),
                     (x, layer))
CONVLAB_SIMT_TEXTURE(tex2DLayered, (float x, float y, int layer),
                     (.dimensions = 2, .is_layered = true, .x = x, .y = y, .layer = layer), (x, y, layer))
CONVLAB_SIMT_TEXTURE(texCubemap, (float x, float y, float z),
                     (.dimensions = 2, .is_cubemap = true, .x = x, .y = y, .z = z), (x, y, z))
CONVLAB_SIMT_TEXTURE(texCubemapLayered, (float x, float y, float z, int layer),
                     (.dimensions = 2, .is_layered = true, .is_cubemap = true, .x = x, .y = y, .z = z, .layer = layer),
                     (x, y, z, layer))

// Without mipmaps, level 0 is the only one.
CONVLAB_SIMT_TEXTURE(tex1DLod, (float x, float level), (.dimensions = 1, .x = x), (x, level))
CONVLAB_SIMT_TEXTURE(tex2DLod, (float x, float y, float level), (.dimensions = 2, .x = x, .y = y), (x, y, level))
CONVLAB_SIMT_TEXTURE(tex3DLod, (float x, float y, float z, float level), (.dimensions = 3, .x = x, .y = y, .z = z),
                     (x, y, z, level))
CONVLAB_SIMT_TEXTURE(tex1DGrad, (float x, float dx, float dy), (.dimensions = 1, .x = x), (x, dx, dy))
CONVLAB_SIMT_TEXTURE(tex2DGrad, (float x, float y, float2 dx, float2 dy), (.dimensions = 2, .x = x, .y = y),
                     (x, y, dx, dy))
CONVLAB_SIMT_TEXTURE(tex3DGrad, (float x, float y, float z, float4 dx, float4 dy),
                     (.dimensions = 3, .x = x, .y = y, .z = z), (x, y, z, dx, dy))
CONVLAB_SIMT_TEXTURE(tex1DLayeredLod, (float x, int layer, float level),
                     (.dimensions = 1, .is_layered = true, .x = x, .layer = layer), (x, layer, level))
CONVLAB_SIMT_TEXTURE(tex2DLayeredLod, (float x, float y, int layer, float level),
                     (.dimensions = 2, .is_layered = true, .x = x, .y = y, .layer = layer), (x, y, layer, level))
CONVLAB_SIMT_TEXTURE(tex1DLayeredGrad, (float x, int layer, float dx, float dy),
                     (.dimensions = 1, .is_layered = true, .x = x, .layer = layer), (x, layer, dx, dy))
CONVLAB_SIMT_TEXTURE(tex2DLayeredGrad, (float x, float y, int layer, float2 dx, float2 dy),
                     (.dimensions = 2, .is_layered = true, .x = x, .y = y, .layer = layer), (x, y, layer, dx, dy))
CONVLAB_SIMT_TEXTURE(texCubemapLod, (float x, float y, float z, float level),
                     (.dimensions = 2, .is_cubemap = true, .x = x, .y = y, .z = z), (x, y, z, level))
CONVLAB_SIMT_TEXTURE(texCubemapGrad, (float x, float y, float z, float4 dx, float4 dy),
                     (.dimensions = 2, .is_cubemap = true, .x = x, .y = y, .z = z), (x, y, z, dx, dy))
CONVLAB_SIMT_TEXTURE(texCubemapLayeredLod, (float x, float y, float z, int layer, float level),
                     (.dimensions = 2, .is_layered = true, .is_cubemap = true, .x = x, .y = y, .z = z, .layer = layer),
                     (x, y, z, layer, level))
CONVLAB_SIMT_TEXTURE(texCubemapLayeredGrad, (float x, float y, float z, int layer, float4 dx, float4 dy),
                     (.dimensions = 2, .is_layered = true, .is_cubemap = true, .x = x, .y = y, .z = z, .layer = layer),
                     (x, y, z, layer, dx, dy))
#undef CONVLAB_SIMT_TEXTURE
#undef CONVLAB_SIMT_LIST

template <class T>
T tex2Dgather(cudaTextureObject_t object, float x, float y, int channel = 0, Where where = Where::current()) {
  static_assert(runtime::Channels<T>::kCount == 4, "tex2Dgather returns a vector of 4");
  const auto read = runtime::as<T>({.call = "tex2Dgather", .dimensions = 2, .x = x, .y = y});
  return runtime::texel_as<T>(runtime::gather_texture(object, read, channel, where));
}

}  // namespace convlab::simt::cuda
