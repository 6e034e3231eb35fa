#pragma once

// A first layer, of few channels, as a convolution of more channels and fewer taps, which tensor cores multiply with
// less waste. With strides, the pixels of a block of stride_h * stride_w become channels of one: 7 x 7 at stride 2 of
// 3 channels is 4 x 4 at stride 1 of 12. Otherwise the columns of a filter become channels: 3 x 3 of 3 channels is 3 x
// 1 of 9. Filters begin with zeros where padding is no multiple of the strides; what they meet there is read, and a
// NaN spreads to it.

#include "convlab/base/checked.h"
#include "convlab/kernels/gpu_channels/pixel_end.cuh"
#include "convlab/kernels/kernel.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

constexpr int kFoldThreads = 256;

struct FirstFold {
  ConvShape given, folded;
  int block_h, block_w;  ///< pixels that become one
  int shift_h, shift_w;  ///< zeros before a filter's rows and columns
  int columns;           ///< of a filter, that become channels

  int of_channel() const { return block_h * block_w * columns; }
};

inline FirstFold fold_of(const ConvProblem& problem) {
  const ConvShape shape = kernel_shape(problem);
  FirstFold fold{.given = shape, .folded = shape, .block_h = shape.stride_h, .block_w = shape.stride_w, .columns = 1};
  ConvShape& folded = fold.folded;
  if (shape.stride_h == 1 && shape.stride_w == 1) {
    fold.columns = shape.s;
    folded.s = 1;
    folded.w = shape.q;
    folded.pad_left = 0;
  } else {
    folded.pad_top = static_cast<int>(ceil_div(shape.pad_top, fold.block_h));
    folded.pad_left = static_cast<int>(ceil_div(shape.pad_left, fold.block_w));
    fold.shift_h = folded.pad_top * fold.block_h - shape.pad_top;
    fold.shift_w = folded.pad_left * fold.block_w - shape.pad_left;
    folded.r = static_cast<int>(ceil_div(shape.r + fold.shift_h, fold.block_h));
    folded.s = static_cast<int>(ceil_div(shape.s + fold.shift_w, fold.block_w));
    folded.h = static_cast<int>(ceil_div(shape.h, fold.block_h));
    folded.w = static_cast<int>(ceil_div(shape.w, fold.block_w));
    folded.stride_h = folded.stride_w = 1;
  }
  folded.c = folded.channels = static_cast<int>(round_up(int64_t{shape.c} * fold.of_channel(), 8));
  return fold;
}

/// A thread makes 8 channels of a pixel; neighbours are pixels.
template <class From, class To>
__global__ void __launch_bounds__(kFoldThreads)
    fold_images(const From* __restrict__ x, To* __restrict__ to, const FirstFold fold, const int64_t count) {
  const int64_t i = int64_t{blockIdx.x} * kFoldThreads + threadIdx.x;
  if (i >= count) return;
  const ConvShape &given = fold.given, &folded = fold.folded;
  const int column = static_cast<int>(i % folded.w);
  const int64_t line = i / folded.w;
  const int row = static_cast<int>(line % folded.h), chunks = folded.c / 8;
  const int chunk = static_cast<int>(line / folded.h % chunks);
  const int64_t image = line / folded.h / chunks;
  const int of_channel = fold.block_h * fold.block_w * fold.columns;
  float values[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const int channel = (chunk * 8 + j) / of_channel, place = (chunk * 8 + j) % of_channel;
    const int down = place / (fold.block_w * fold.columns), across = place % (fold.block_w * fold.columns);
    const int h = row * fold.block_h + down;
    const int w =
        fold.columns > 1 ? column + across * given.dilation_w - given.pad_left : column * fold.block_w + across;
    const bool exists = channel < given.c && h < given.h && w >= 0 && w < given.w;
    values[j] = exists ? static_cast<float>(x[((image * given.c + channel) * given.h + h) * given.w + w]) : 0.0f;
  }
  store_eight(to + ((image * folded.h + row) * folded.w + column) * folded.c + chunk * 8, values);
}

/// Filters of the folded shape, [map][channel][row][column], in float32.
__global__ void __launch_bounds__(kFoldThreads)
    fold_filters(const float* __restrict__ w, float* __restrict__ to, const FirstFold fold) {
  const ConvShape &given = fold.given, &folded = fold.folded;
  const int64_t i = int64_t{blockIdx.x} * kFoldThreads + threadIdx.x;
  if (i >= int64_t{folded.k} * folded.c * folded.r * folded.s) return;
  const int s = static_cast<int>(i % folded.s), r = static_cast<int>(i / folded.s % folded.r);
  const int of_all = static_cast<int>(i / folded.s / folded.r % folded.c);
  const int64_t map = i / folded.s / folded.r / folded.c;
  const int of_channel = fold.block_h * fold.block_w * fold.columns;
  const int channel = of_all / of_channel, place = of_all % of_channel;
  const int down = place / (fold.block_w * fold.columns), across = place % (fold.block_w * fold.columns);
  const int row = r * fold.block_h + down - fold.shift_h;
  const int column = fold.columns > 1 ? across : s * fold.block_w + across - fold.shift_w;
  const bool exists = channel < given.c && row >= 0 && row < given.r && column >= 0 && column < given.s;
  to[i] = exists ? w[((map * given.c + channel) * given.r + row) * given.s + column] : 0.0f;
}

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
