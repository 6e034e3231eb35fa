#pragma once

// Shared by the convolutions in nhwc float16: pixels are contiguous, each with all its channels.

#include <cstdint>

#include "convlab/conv/epilogue.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// A convolution in nhwc, of elements that are __half or float. Channels per group are multiples of 8, and so are
/// output channels unless y is nchw. Steps are elements from one pixel to the next: multiples of 8, and at least the
/// number of channels, because arrays may be parts of concatenated ones. All addresses are multiples of 16 bytes. y =
/// activation(sum + bias + added), in fp32, rounded once.
template <class Element>
struct PixelConvOf {
  ConvShape shape;
  int groups;
  const Element* x;
  int64_t x_step;
  const void* w;         ///< packed by the kernel
  const float* bias;     ///< one value per output channel, or nullptr
  const Element* added;  ///< an array of y's shape, or nullptr
  int64_t added_step;
  Element* y;
  int64_t y_step;
  float* plain;  ///< instead of y, if not nullptr: contiguous fp32 nchw, of 1x1 images
  Activation activation;
  bool pools = false;  ///< y is 2x2 max pooled
  PrefetchHint prefetch;
};

/// Whether elements are fp16.
template <class Element>
inline constexpr bool kIsHalf = sizeof(Element) == sizeof(__half);

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
