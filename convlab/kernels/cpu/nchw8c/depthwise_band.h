#pragma once

#include <cstdint>

#include "convlab/conv/problem.h"
#include "convlab/kernels/cpu/nchw8c/channels.h"

namespace convlab {

/// Some output rows of a depthwise convolution, for adjacent channels, a multiple of 8. Steps are elements between
/// pixels.
template <class Element>
struct DepthwiseBand {
  const ConvProblem& problem;
  int64_t channels = kChannelLanes;
  const Element* x = nullptr;  ///< the channels' input, starting at the first row of the image
  int64_t x_step = kChannelLanes;
  const float* w = nullptr;  ///< [r][s][w_step]
  int64_t w_step = kChannelLanes;
  const float* bias = nullptr;     ///< by channel
  const Element* added = nullptr;  ///< like y, or nullptr
  int64_t added_step = kChannelLanes;
  Clamp clamp;
  const Activation* activation = nullptr;  ///< replaces the clamp if set
  int64_t first = 0, count = 0;            ///< output rows
  Element* y = nullptr;                    ///< the first of these rows
  int64_t y_step = kChannelLanes;
};

/// Writes the outputs of one block of 8 channels in nchw8c: the bias, then products in the order of
/// filter rows and columns, then `added`, then the clamp.
void compute_band(const DepthwiseBand<float>& band);

}  // namespace convlab
