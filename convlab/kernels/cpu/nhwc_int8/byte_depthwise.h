#pragma once

#include <cstdint>

#include "convlab/conv/problem.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_levels.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_unit.h"

namespace convlab {

// Depthwise convolutions in nhwc4 uint8: a vector of a pixel's channels from each row of the filter. The rows
// are interleaved, so that adjacent rows of one channel and column are multiplied and summed together; columns are
// interleaved once for all outputs that use them.

/// One output row.
struct ByteDepthwiseRow {
  ByteUnit unit = ByteUnit::words;
  const ConvProblem& problem;
  const uint8_t* x = nullptr;      ///< the image
  const uint8_t* zeros = nullptr;  ///< a row of the image filled with zero points
  const uint8_t* w = nullptr;      ///< see byte_depthwise_weight()
  const int32_t* start = nullptr;  ///< indexed by byte_depthwise_place()
  const float* factors = nullptr;
  LevelRule rule;
  int64_t row = 0;  ///< its index in the output
  uint8_t* y = nullptr;
};

/// Returns the channels of a block; `start` and `factors` hold whole blocks.
int64_t byte_depthwise_block();

/// Returns the index of a channel's sum.
int64_t byte_depthwise_place(int64_t channel);

/// Return the bytes of a filter's weights, and the byte offset of one of them.
int64_t byte_depthwise_weights(const ConvProblem& problem, ByteUnit unit);
int64_t byte_depthwise_weight(const ConvProblem& problem, ByteUnit unit, int64_t channel, int64_t r, int64_t s);

void compute_row(const ByteDepthwiseRow& row);

}  // namespace convlab
