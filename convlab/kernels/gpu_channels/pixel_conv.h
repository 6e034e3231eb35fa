#pragma once

// What the convolutions of Layout::channels_last share: images whose pixels lie one after another, each with all its
// channels.

#include <cstdint>

#include "convlab/conv/epilogue.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// One such convolution, of elements that are __half or float. Channels of a group are multiples of 8, and maps unless
/// y is plain. Steps are elements from pixel to pixel, multiples of 8, and at least as many as there are channels or
/// maps: arrays may be parts of joint ones. All addresses are multiples of 16 bytes. y = activation(sum + bias +
/// added), in float32, rounded once.
template <class Element>
struct PixelConvOf {
  ConvShape shape;
  int groups;
  const Element* x;
  int64_t x_step;
  const void* w;         ///< as the kernel has packed it
  const float* bias;     ///< a number for each map, or nullptr
  const Element* added;  ///< an array like y, or nullptr
  int64_t added_step;
  Element* y;
  int64_t y_step;
  float* plain;  ///< instead of y, if not nullptr: dense float32, of images of one pixel
  Activation activation;
  bool pools = false;  ///< y has the maxima of squares of 2 x 2 pixels
  PrefetchHint prefetch;
};

/// Whether elements are halves.
template <class Element>
inline constexpr bool kIsHalf = sizeof(Element) == sizeof(__half);

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
