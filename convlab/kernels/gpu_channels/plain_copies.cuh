#pragma once

// From plain arrays to what multiplications in channels last take.

#include "convlab/base/checked.h"
#include "convlab/kernels/gpu_channels/pixel_end.cuh"
#include "convlab/tensor/shape.h"

namespace convlab {
namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

constexpr int kCopyThreads = 256;

/// A thread makes 8 channels of a pixel; neighbours are pixels.
template <class Element>
__global__ void __launch_bounds__(kCopyThreads)
    copy_pixels_of_planes(const Element* __restrict__ x, __half* __restrict__ to, int64_t images, int64_t pixels,
                          int64_t channels, int64_t chunks) {
  const int64_t i = int64_t{blockIdx.x} * kCopyThreads + threadIdx.x;
  if (i >= images * pixels * chunks) return;
  const int64_t pixel = i % pixels, chunk = i / pixels % chunks, image = i / pixels / chunks;
  __half values[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const int64_t channel = chunk * 8 + j;
    const bool exists = channel < channels;
    values[j] = __float2half_rn(exists ? static_cast<float>(x[(image * channels + channel) * pixels + pixel]) : 0.0f);
  }
  PixelChunk result;
#pragma unroll
  for (int j = 0; j < 4; ++j) result.pairs[j] = __halves2half2(values[2 * j], values[2 * j + 1]);
  *reinterpret_cast<uint4*>(to + ((image * pixels + pixel) * chunks + chunk) * 8) = result.bytes;
}

/// Bytes of plain images {n, c, h, w} as float16, channels last; channels are rounded up to a multiple of 8.
size_t channels_last_bytes(const Shape& shape) {
  const int64_t elements = checked_product({shape[0], round_up(shape[1], 8), shape[2], shape[3]});
  return static_cast<size_t>(round_up(checked_mul(elements, sizeof(__half)), 64));
}

/// Copies plain images of float or uint8 so. Channels that do not exist are zeros.
template <class Element>
void copy_to_channels_last(const Element* x, const Shape& shape, __half* to, Stream& stream) {
  const int64_t pixels = shape[2] * shape[3], chunks = ceil_div(shape[1], 8);
  launch(copy_pixels_of_planes<Element>,
         {.grid = ceil_div(shape[0] * pixels * chunks, kCopyThreads), .block = kCopyThreads}, stream.native(), x, to,
         shape[0], pixels, shape[1], chunks);
}

/// Filters in float32, and the elements from a map, a channel and a tap to the next.
struct PlainFilters {
  const float* w;
  int64_t map_step, channel_step, tap_step;
};

__global__ void __launch_bounds__(kCopyThreads)
    pack_plain_filters(const PlainFilters filters, __half* __restrict__ packed, int64_t maps, int64_t taps, int64_t given,
                       int64_t channels) {
  const int64_t i = int64_t{blockIdx.x} * kCopyThreads + threadIdx.x;
  if (i >= maps * taps * channels) return;
  const int64_t channel = i % channels, tap = i / channels % taps, map = i / channels / taps;
  const float* from = filters.w + map * filters.map_step + channel * filters.channel_step + tap * filters.tap_step;
  packed[i] = __float2half_rn(channel < given ? *from : 0.0f);
}

/// Packs them as [map][tap][channel], the channels rounded up to a multiple of 8 with zeros.
void pack_filters(const PlainFilters& filters, int64_t maps, int64_t taps, int64_t channels, __half* packed,
                         Stream& stream) {
  const int64_t rounded = round_up(channels, 8);
  launch(pack_plain_filters, {.grid = ceil_div(maps * taps * rounded, kCopyThreads), .block = kCopyThreads}, stream.native(),
         filters, packed, maps, taps, channels, rounded);
}

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
