#pragma once

#include <cstddef>
#include <type_traits>

#include "convlab/simt/vector_types.h"

/// The formats of texels: one, two or four channels of 8, 16 or 32 bits.
namespace convlab::simt::cuda {

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3,
};

/// The bits of each channel, and what they hold.
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};

constexpr cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}

namespace runtime {

/// The channels of a texel type.
template <class T>
struct Channels {
  static constexpr int kCount = 0;  ///< not a texel type
};

#define CONVLAB_SIMT_CHANNELS(T, name)       \
  template <>                                \
  struct Channels<T> {                       \
    using Scalar = T;                        \
    static constexpr int kCount = 1;         \
  };                                         \
  template <>                                \
  struct Channels<name##1> : Channels<T> {}; \
  template <>                                \
  struct Channels<name##2> {                 \
    using Scalar = T;                        \
    static constexpr int kCount = 2;         \
  };                                         \
  template <>                                \
  struct Channels<name##4> {                 \
    using Scalar = T;                        \
    static constexpr int kCount = 4;         \
  };

CONVLAB_SIMT_CHANNELS(signed char, char)
CONVLAB_SIMT_CHANNELS(unsigned char, uchar)
CONVLAB_SIMT_CHANNELS(short, short)
CONVLAB_SIMT_CHANNELS(unsigned short, ushort)
CONVLAB_SIMT_CHANNELS(int, int)
CONVLAB_SIMT_CHANNELS(unsigned, uint)
CONVLAB_SIMT_CHANNELS(float, float)
#undef CONVLAB_SIMT_CHANNELS
template <>
struct Channels<char> : Channels<signed char> {};

template <class T>
inline constexpr bool is_texel = Channels<T>::kCount > 0;

template <class Scalar>
inline constexpr cudaChannelFormatKind kKindOf = std::is_floating_point_v<Scalar> ? cudaChannelFormatKindFloat
                                                 : std::is_signed_v<Scalar>       ? cudaChannelFormatKindSigned
                                                                                  : cudaChannelFormatKindUnsigned;

}  // namespace runtime

/// The format of a texel type. For other types CUDA returns a format without channels, which no texture accepts; here
/// they do not compile.
template <class T>
constexpr cudaChannelFormatDesc cudaCreateChannelDesc() {
  static_assert(runtime::is_texel<T>,
                "a texel is char, short, int or float, signed or unsigned, or a vector of 1, 2 or 4 of them");
  if constexpr (runtime::is_texel<T>) {
    using Scalar = typename runtime::Channels<T>::Scalar;
    constexpr int kCount = runtime::Channels<T>::kCount, kBits = 8 * sizeof(Scalar);
    return {kBits, kCount > 1 ? kBits : 0, kCount > 2 ? kBits : 0, kCount > 2 ? kBits : 0, runtime::kKindOf<Scalar>};
  }
  return {0, 0, 0, 0, cudaChannelFormatKindNone};
}
/// fp16 channels, which textures read as float.
constexpr cudaChannelFormatDesc cudaCreateChannelDescHalf() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }
constexpr cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }
constexpr cudaChannelFormatDesc cudaCreateChannelDescHalf2() { return {16, 16, 0, 0, cudaChannelFormatKindFloat}; }
constexpr cudaChannelFormatDesc cudaCreateChannelDescHalf4() { return {16, 16, 16, 16, cudaChannelFormatKindFloat}; }

namespace runtime {

constexpr int channels_of(const cudaChannelFormatDesc& format) {
  return (format.x > 0) + (format.y > 0) + (format.z > 0) + (format.w > 0);
}
constexpr size_t texel_bytes(const cudaChannelFormatDesc& format) {
  return static_cast<size_t>(format.x + format.y + format.z + format.w) / 8;
}

/// Whether textures and arrays can have this format: 1, 2 or 4 channels of the same number of bits.
constexpr bool is_texel_format(const cudaChannelFormatDesc& format) {
  const int bits = format.x, count = channels_of(format);
  if (bits != 8 && bits != 16 && bits != 32) return false;
  if (count != 1 && count != 2 && count != 4) return false;
  if ((count > 1 && format.y != bits) || (count > 2 && (format.z != bits || format.w != bits))) return false;
  if (count < 3 && (format.z != 0 || format.w != 0)) return false;
  if (format.f == cudaChannelFormatKindFloat) return bits != 8;
  return format.f == cudaChannelFormatKindSigned || format.f == cudaChannelFormatKindUnsigned;
}

}  // namespace runtime
}  // namespace convlab::simt::cuda
