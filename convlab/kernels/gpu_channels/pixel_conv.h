#pragma once

// What the convolutions of Layout::channels_last share: images whose pixels lie one after another, each with all its channels.

#include <cstdint>

#include "convlab/conv/epilogue.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// One such convolution. Channels of a group are multiples of 8, and maps unless y is plain. Steps are elements from pixel to pixel, multiples
/// of 8, and at least as many as there are channels or maps: arrays may be parts of joint ones. All addresses are multiples of
/// 16 bytes. y = activation(sum + bias + added), in float32, rounded once.
struct PixelConv {
  ConvShape shape;
  int groups;
  const __half* x;
  int64_t x_step;
  const void* w;         ///< as the kernel has packed it
  const float* bias;     ///< a number for each map, or nullptr
  const __half* added;   ///< an array like y, or nullptr
  int64_t added_step;
  __half* y;
  int64_t y_step;
  float* plain;  ///< instead of y, if not nullptr: dense float32, of images of one pixel
  Activation activation;
};

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
