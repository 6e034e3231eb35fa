#pragma once

// Recomputes tiles with pixels or filters outside fp16 range by direct fp32 summation.

#include "convlab/kernels/cuda/nhwc/igemm.cuh"
#include "convlab/kernels/cuda/nhwc/igemm_weights.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

constexpr int kRedoThreads = 256;

/// Grid: as in convolve_igemm(), with one part. A thread computes 8 output channels of a pixel.
template <class Terms>
__global__ void __launch_bounds__(kRedoThreads)
    redo_marked_tiles(const __grid_constant__ PixelConvOf<float> conv, const IgemmCut cut, const int tile_rows,
                      const int tile_maps, const uint32_t* __restrict__ marks, const float* __restrict__ undo) {
  const int group = blockIdx.z;
  if (marks[group * gridDim.x + blockIdx.x] == 0) return;
  const ConvShape& shape = conv.shape;
  const int64_t first_row = int64_t{blockIdx.x / cut.map_tiles} * tile_rows,
                rows = int64_t{shape.n} * shape.p * shape.q;
  const int first_map = static_cast<int>(blockIdx.x % cut.map_tiles) * tile_maps;
  for (int i = threadIdx.x; i < tile_rows * (tile_maps / 8); i += kRedoThreads) {
    const int64_t row = first_row + i / (tile_maps / 8), image = row / (shape.p * shape.q);
    const int map = first_map + i % (tile_maps / 8) * 8, of_all = group * shape.maps + map;
    if (row >= rows || map >= shape.maps) continue;
    const int pixel = static_cast<int>(row - image * (shape.p * shape.q));
    const int top = pixel / shape.q * shape.stride_h - shape.pad_top;
    const int left = pixel % shape.q * shape.stride_w - shape.pad_left;
    float sum[8] = {};
    for (int tap = 0; tap < shape.r * shape.s; ++tap) {
      const int h = top + tap / shape.s * shape.dilation_h, w = left + tap % shape.s * shape.dilation_w;
      if (h < 0 || h >= shape.h || w < 0 || w >= shape.w) continue;
      const float* x = conv.x + ((image * shape.h + h) * shape.w + w) * conv.x_step + group * shape.channels;
      for (int channel = 0; channel < shape.channels; ++channel) {
        const int64_t term = int64_t{tap} * shape.channels + channel, slice = term / Terms::kSlice;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          if (map + j >= shape.maps) continue;
          const auto* from =
              static_cast<const unsigned char*>(conv.w) + ((of_all + j) * cut.slices + slice) * Terms::kSliceBytes;
          sum[j] +=
              x[channel] * (Terms::unpacked(static_cast<int>(term % Terms::kSlice), from) * fabsf(undo[of_all + j]));
        }
      }
    }
    finish_pixel(conv, sum, row, of_all);
  }
}

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
