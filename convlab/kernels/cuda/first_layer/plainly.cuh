#pragma once

#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/cuda/first_layer/bytes_shape.h"
#include "convlab/kernels/cuda/first_layer/first_shape.h"
#include "convlab/kernels/ops/activation.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Direct fp32 summation of a band of a first layer, for pixels and filters that fp16 cannot represent.

template <class Pixel>
__device__ float sum_plainly(const Pixel* image, const float* filter, const ConvShape& conv, int p, int q) {
  float sum = 0;
  for (int r = 0; r < conv.r; ++r) {
    for (int s = 0; s < conv.s; ++s) {
      const int h = p + r - conv.pad_top, w = q + s - conv.pad_left;
      const bool inside = h >= 0 && h < conv.h && w >= 0 && w < conv.w;
      if (inside) sum += filter[r * conv.s + s] * static_cast<float>(image[h * conv.w + w]);
    }
  }
  return sum;
}

/// Returns one output: the largest of kSquare x kSquare sums, with bias and activation. NaN is larger than all other
/// values.
template <int kSquare, class Pixel, class Shape>
__device__ float output_plainly(const Pixel* image, const float* w, const float* bias, const Shape& shape, int map,
                                int row, int column) {
  const float* filter = w + map * (shape.conv.r * shape.conv.s);
  float largest = -INFINITY;
  for (int i = 0; i < kSquare * kSquare; ++i) {
    const float sum =
        sum_plainly(image, filter, shape.conv, row * kSquare + i / kSquare, column * kSquare + i % kSquare);
    if (!(sum <= largest) && largest == largest) largest = sum;
  }
  if (bias != nullptr) largest += bias[map];
  return activated(shape.activation, largest);
}

/// Writes rows [first_row, first_row + rows) of all output channels of an image. `y` is the image's output.
template <int kSquare, class Pixel>
__device__ void write_plainly(const Pixel* image, const float* w, const float* bias, float* y,
                              const FirstLayerShape& shape, int first_row, int rows) {
  const int count = rows * shape.columns;
  for (int i = threadIdx.x; i < shape.conv.k * count; i += blockDim.x) {
    const int map = i / count, pixel = first_row * shape.columns + i % count;
    y[map * (shape.rows * shape.columns) + pixel] =
        output_plainly<kSquare>(image, w, bias, shape, map, pixel / shape.columns, pixel % shape.columns);
  }
}
/// The same as fp16 in blocks of channels (nchw8c; the last block may have 4), for output channels [first_map,
/// first_map + maps), padding channels included. After the last row of the last channel, writes zeros to the end of the
/// image's output.
template <int kSquare, class Pixel>
__device__ void write_plainly(const Pixel* image, const float* w, const float* bias, __half* y,
                              const BytesLayerShape& shape, int first_row, int rows, int first_map, int maps) {
  const int count = rows * shape.columns, plane = shape.rows * shape.columns, channels = (shape.conv.k + 3) / 4 * 4;
  for (int i = threadIdx.x; i < maps * count; i += blockDim.x) {
    const int map = first_map + i % maps, pixel = first_row * shape.columns + i / maps;
    const int block = map / 8, width = min(8, channels - block * 8);
    const float value = map < shape.conv.k ? output_plainly<kSquare>(image, w, bias, shape, map, pixel / shape.columns,
                                                                     pixel % shape.columns)
                                           : 0;
    y[block * 8 * plane + pixel * width + map % 8] = __float2half_rn(value);
  }
  if (first_row + rows < shape.rows || first_map + maps < channels) return;
  for (int i = channels * plane + threadIdx.x; i < shape.image_bytes / 2; i += blockDim.x) y[i] = __float2half_rn(0);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
