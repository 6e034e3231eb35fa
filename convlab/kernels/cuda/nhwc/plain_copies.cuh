#pragma once

// Copies nchw images to nhwc for the kernels that multiply these.

#include "convlab/base/checked.h"
#include "convlab/kernels/cuda/nhwc/pixel_end.cuh"
#include "convlab/tensor/shape.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

constexpr int kCopyThreads = 256;

/// A thread copies 8 channels of a pixel; adjacent threads copy adjacent pixels.
template <class From, class To>
__global__ void __launch_bounds__(kCopyThreads)
    copy_pixels_of_planes(const From* __restrict__ x, To* __restrict__ to, int64_t images, int64_t pixels,
                          int64_t channels, int64_t chunks) {
  const int64_t i = int64_t{blockIdx.x} * kCopyThreads + threadIdx.x;
  if (i >= images * pixels * chunks) return;
  const int64_t pixel = i % pixels, chunk = i / pixels % chunks, image = i / pixels / chunks;
  float values[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const int64_t channel = chunk * 8 + j;
    values[j] = channel < channels ? static_cast<float>(x[(image * channels + channel) * pixels + pixel]) : 0.0f;
  }
  store_eight(to + ((image * pixels + pixel) * chunks + chunk) * 8, values);
}

/// Returns the bytes of images {n, c, h, w} in nhwc, with channels rounded up to a multiple of 8.
template <class To>
size_t channels_last_bytes(const Shape& shape) {
  const int64_t elements = checked_product({shape[0], round_up(shape[1], 8), shape[2], shape[3]});
  return static_cast<size_t>(round_up(checked_mul(elements, sizeof(To)), 64));
}

/// Copies nchw images of float or uint8 to nhwc. Padded channels are zeros.
template <class From, class To>
void copy_to_channels_last(const From* x, const Shape& shape, To* to, Stream& stream) {
  const int64_t pixels = shape[2] * shape[3], chunks = ceil_div(shape[1], 8);
  launch(copy_pixels_of_planes<From, To>,
         {.grid = ceil_div(shape[0] * pixels * chunks, kCopyThreads), .block = kCopyThreads}, stream.native(), x, to,
         shape[0], pixels, shape[1], chunks);
}

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
