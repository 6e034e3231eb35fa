#pragma once

#include "convlab/device/pipeline.cuh"
#include "convlab/kernels/first_layer/bytes_shape.h"
#include "convlab/kernels/first_layer/pixels.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// How a first layer's bytes get into shared memory, as they are, and from there into operands. A byte with a zero above
// it is a half already: a subnormal one, 2^-24 a unit, exactly.

constexpr float kByteUnit = 0x1p24f;  // what sums of such halves are multiplied by

/// Two neighbouring bytes, the first one low.
inline __device__ uint32_t load_bytes(SharedAddress from) {
#ifdef __CUDACC__
  unsigned short bytes;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(bytes) : "r"(from));
  return bytes;
#else
  return *from_shared<uint16_t>(from);
#endif
}

/// Two bytes as halves. A compiler computes equal values once and moves them where they are needed, which costs as
/// much; so each place of an operand has a variant of its own, made with another zero.
template <int kVariant>
__device__ uint32_t spread(uint32_t bytes) {
#ifdef __CUDACC__
  uint32_t halves;
  asm("prmt.b32 %0, %1, 0, %2;" : "=r"(halves) : "r"(bytes), "n"(kVariant == 0 ? 0x4140 : 0x5150));
  return halves;
#else
  return __byte_perm(bytes, 0, 0x4140);
#endif
}

/// The pixels of some rows of outputs.
struct ByteBand {
  const uint8_t* image;
  int top, height;  ///< in rows of the image; top may be negative, and the last rows beyond the image

  /// Bytes from the start of a buffer to the band's first: copies of 16 bytes are aligned on both sides.
  __device__ int offset(const BytesLayerShape& shape) const {
    return shape.contiguous ? static_cast<int>(reinterpret_cast<uintptr_t>(image + top * shape.conv.w) & 15) : 0;
  }

  /// Begins to copy whole rows; only if the shape is contiguous. wait_for_copies() waits.
  template <int kThreads>
  __device__ void copy(SharedAddress buffer, const BytesLayerShape& shape) const {
    const uint8_t* from = image + top * shape.conv.w;
    const int bytes = min(height, shape.conv.h - top) * shape.conv.w, begin = offset(shape);
    const int head = min(bytes, -begin & 15), middle = (bytes - head) & ~15;
    const SharedAddress to = buffer + begin;
    constexpr int kAtOnce = 4;
#pragma unroll 1
    for (int first = threadIdx.x * 16; first < middle; first += kAtOnce * kThreads * 16) {
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int at = first + i * kThreads * 16;
        if (at < middle) copy_async(to + head + at, reinterpret_cast<const uint4*>(from + head + at), true);
      }
    }
    if (const int word = threadIdx.x * 4; word < bytes - middle) {  // these are less than 32
      const int at = word < head ? word : word + middle;
      copy_async(to + at, reinterpret_cast<const uint32_t*>(from + at), true);
    }
  }

  /// Stages any rows, with zeros around the image.
  __device__ void stage(SharedAddress buffer, const BytesLayerShape& shape) const {
    const int words = shape.pitch / 2;
    for (int i = threadIdx.x; i < height * words; i += blockDim.x) {
      const int row = divide(i, shape.words_inverse), h = top + row;
      uint32_t bytes = 0;
      for (int right = 0; right < 2; ++right) {
        const int w = 2 * (i - row * words) + right - shape.conv.pad_left;
        const bool inside = h >= 0 && h < shape.conv.h && w >= 0 && w < shape.conv.w;
        if (inside) bytes |= uint32_t{image[h * shape.conv.w + w]} << 8 * right;
      }
      *from_shared<uint16_t>(buffer + 2 * i) = static_cast<uint16_t>(bytes);
    }
  }
};

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
