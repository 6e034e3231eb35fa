#pragma once

#include <type_traits>

#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/cuda/first_layer/pixels.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Compile-time parameters of the kernels of first_layer.cuh, and staging of filters as matrix operands.

/// Compile-time parameters of a kernel of the family. kProducts is 3 if pixels and filters are split into two fp16
/// values, 2 if only filters are split (bytes are exact in fp16), and 1 if values are rounded to fp16.
template <class Pixel_, int kProducts_, bool kPooled_>
struct FirstLayer {
  using Pixel = Pixel_;
  static constexpr int kProducts = kProducts_;
  static constexpr bool kPooled = kPooled_;
  static constexpr bool kSplitPixels = kProducts == 3, kSplitFilters = kProducts >= 2;
  static constexpr bool kFinished = kPooled;  // bias and activation are fused
  static constexpr bool kRangedPixels = std::is_same_v<Pixel, float>;
  static constexpr int kRowWords = kSplitPixels ? 2 * kPitch : kPitch;  // words per staged row of pixels
  static constexpr int kSquare = kPooled ? 2 : 1;                       // rows of sums per row of outputs
  static constexpr int kMostThreads = 512;                              // per block
  static constexpr int kUnits = kRangedPixels ? 5 : 6;  // units that a thread loads while the previous band is computed
};

/// Returns the output channel, within its pass, of a column in the results of lanes with thread % 4 == part. Two
/// columns together have 8 output channels, and a lane has adjacent ones, so that lanes stage them in different banks.
template <int kColumns>
__device__ int map_of(int column, int part) {
  return (column | 1) < kColumns ? column / 2 * 8 + part * 2 + column % 2 : column * 4 + part;
}

/// A lane's filters for a pass, as operands: two words per step and column. Of a column's 8 filters, two adjacent ones
/// are one output channel, for the left and the right output of a cell.
template <int kSteps, int kColumns>
struct Filters {
  uint32_t large[kSteps][kColumns][2], small[kSteps][kColumns][2];
};

/// Stages all filters in the order in which lanes load them, small parts after large parts, then the bias. Returns
/// whether fp16 cannot represent the filters. Ends with a barrier.
template <class Layer, int kSteps, int kColumns>
__device__ bool stage_filters(const float* w, const float* bias, uint32_t* staged, const FirstLayerShape& shape) {
  const int r = shape.conv.r, s = shape.conv.s, columns = shape.passes * kColumns, words = kSteps * columns * 64;
  uint32_t largest = 0;
  for (int i = threadIdx.x; i < words; i += blockDim.x) {
    const int group = i % 32 / 4, thread = i % 4, right = group % 2;
    const int half = i / 32 % 2, column = i / 64 % columns, step = i / 64 / columns;
    const int word = step * 8 + half * 4 + thread;
    const int row = word / shape.filter_words, across = word % shape.filter_words * 2 - right;
    const int map = column / kColumns * (kColumns * 4) + map_of<kColumns>(column % kColumns, group / 2);
    const float* from = w + (map * r + row) * s + across;
    const bool exists = map < shape.conv.k && row < r;
    const float first = exists && across >= 0 && across < s ? from[0] : 0;
    const float second = exists && across + 1 < s ? from[1] : 0;
    largest = larger(larger(largest, first), second);
    const SplitPair pair = split(first, second);
    staged[i] = pair.large;
    if (Layer::kSplitFilters) staged[words + i] = pair.small;
  }
  float* const staged_bias = reinterpret_cast<float*>(staged + words * (Layer::kSplitFilters ? 2 : 1));
  for (int map = threadIdx.x; map < columns * 4; map += blockDim.x) {
    staged_bias[map] = bias != nullptr && map < shape.conv.k ? bias[map] : 0;
  }
  const uint32_t range = range_of(largest);
  uint32_t of_all = 0;
  for (uint32_t flag = kTooLarge; flag <= kNotZero; flag *= 2) of_all |= __syncthreads_or(range & flag) != 0 ? flag : 0;
  return out_of_range(of_all);
}

template <class Layer, int kSteps, int kColumns>
__device__ void load_filters(Filters<kSteps, kColumns>& filters, float (&biases)[kColumns], const uint32_t* staged,
                             int pass, const FirstLayerShape& shape) {
  const int lane = threadIdx.x % 32, columns = shape.passes * kColumns, words = kSteps * columns * 64;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int at = ((step * columns + pass * kColumns + column) * 2 + half) * 32 + lane;
        filters.large[step][column][half] = staged[at];
        if (Layer::kSplitFilters) filters.small[step][column][half] = staged[words + at];
      }
    }
  }
  const float* staged_bias = reinterpret_cast<const float*>(staged + words * (Layer::kSplitFilters ? 2 : 1));
#pragma unroll
  for (int column = 0; column < kColumns; ++column) {
    biases[column] = staged_bias[pass * kColumns * 4 + map_of<kColumns>(column, lane % 4)];
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
