#pragma once

#include <cstdint>
#include <span>

#include "convlab/kernels/cpu_channels/channels.h"

namespace convlab {

/// A row of outputs for some maps, as sums over pixels that lie in planes, each as float32.
struct FirstRow {
  const float* x = nullptr;          ///< planes: a term's pixels, one after another, lie from x + offset on
  std::span<const int64_t> offsets;  ///< by term
  const float* w = nullptr;          ///< [term][maps]
  int64_t maps = 0;                  ///< as channel_panel_maps() says
  const float* bias = nullptr;       ///< by map
  const float* added = nullptr;      ///< like y, or nullptr
  Clamp clamp;
  float* y = nullptr;      ///< in Layout::channel_lanes
  int64_t block_step = 0;  ///< floats from y's block of 8 maps to the next
  int64_t outputs = 0;
};

/// Writes the outputs: the bias, terms in their order, what is added, limits.
void compute_row(const FirstRow& row);

}  // namespace convlab
