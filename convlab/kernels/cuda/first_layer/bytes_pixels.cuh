#pragma once

#include "convlab/device/pipeline.cuh"
#include "convlab/kernels/cuda/first_layer/bytes_shape.h"
#include "convlab/kernels/cuda/first_layer/pixels.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Copies of a first layer's bytes to shared memory, unchanged, and from there into operands. A byte with a zero byte
// above it is already an fp16 value: a subnormal one, in units of 2^-24, exactly.

constexpr float kByteUnit = 0x1p24f;  // factor for sums of such fp16 values

/// Loads two adjacent bytes, the first one low.
inline __device__ uint32_t load_bytes(SharedAddress from) {
#ifdef __CUDACC__
  unsigned short bytes;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(bytes) : "r"(from));
  return bytes;
#else
  return *from_shared<uint16_t>(from);
#endif
}

/// Converts two bytes to fp16. Compilers compute equal values once and move them where they are needed, which costs as
/// much. So each position in an operand has its own variant, which selects another zero byte.
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

/// The pixels under some rows of outputs.
struct ByteBand {
  const uint8_t* image;
  int top, height;  ///< in image rows; top may be negative, and the last rows may be below the image

  /// Returns the bytes from the start of a buffer to the band's first pixel, so that copies of 16 bytes are aligned on
  /// both sides.
  __device__ int offset(const BytesLayerShape& shape) const {
    return shape.contiguous ? static_cast<int>(reinterpret_cast<uintptr_t>(image + top * shape.conv.w) & 15) : 0;
  }

  /// Starts to copy whole rows; only if the shape is contiguous. wait_for_copies() waits for them.
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
    if (const int word = threadIdx.x * 4; word < bytes - middle) {  // less than 32 bytes
      const int at = word < head ? word : word + middle;
      copy_async(to + at, reinterpret_cast<const uint32_t*>(from + at), true);
    }
  }

  /// Stages the rows of any shape, with zeros around the image.
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
