#pragma once

#include "convlab/device/tensor_core.cuh"
#include "convlab/kernels/cuda/first_layer/filters.cuh"
#include "convlab/kernels/cuda/first_layer/pixels.cuh"
#include "convlab/kernels/ops/activation.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Multiplication of cells by a warp of first_layer.cuh, and staging of their results in shared memory.

/// Computes the sums of 16 cells, 8 of a row and 8 of the next row. In each column, [0] and [1] are the left and the
/// right sum of the first row's cell, [2] and [3] those of the second row's. The lane's words of its cell in the first
/// row are `from` bytes after `words`. With pooling, results are the larger of two vertically adjacent sums.
template <class Layer, int kSteps, int kColumns>
__device__ void convolve_cells(float (&result)[kColumns][4], const SharedWords (&words)[kSteps * 2], int from,
                               const Filters<kSteps, kColumns>& filters) {
#pragma unroll
  for (int below = 0; below < Layer::kSquare; ++below) {
    uint32_t large[kSteps][4], small[kSteps][4];
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const SharedWords at = words[step * 2 + i / 2] + from;
        const int row = i % 2 * Layer::kSquare + below;
        large[step][i] = load_word(at + row * Layer::kRowWords * 4);
        if (Layer::kSplitPixels) small[step][i] = load_word(at + (row * Layer::kRowWords + kPitch) * 4);
      }
    }
    float sum[kColumns][4] = {}, small_sum[kColumns][4] = {};
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (Layer::kSplitFilters) {
#pragma unroll
        for (int column = 0; column < kColumns; ++column) {
          mma_fp16(small_sum[column], large[step], filters.small[step][column], small_sum[column]);
        }
      }
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        mma_fp16(sum[column], large[step], filters.large[step][column], sum[column]);
      }
      if (Layer::kSplitPixels) {
#pragma unroll
        for (int column = 0; column < kColumns; ++column) {
          mma_fp16(small_sum[column], small[step], filters.large[step][column], small_sum[column]);
        }
      }
    }
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float value = Layer::kSplitFilters ? sum[column][i] + small_sum[column][i] * kSmallUnit : sum[column][i];
        result[column][i] = below == 0 ? value : fmaxf(result[column][i], value);
      }
    }
  }
}

template <int kCount>
__device__ void activate(const Activation& activation, float (&values)[kCount]) {
  switch (activation.kind) {
    case ActivationKind::none:
      break;
    case ActivationKind::tanh:
#pragma unroll
      for (float& value : values) value = tanhf(value);
      break;
    default:
#pragma unroll
      for (float& value : values) value = activated(activation, value);
  }
}

/// Stages the results of a lane's two cells, one a row below the other. `cell` is the index of the upper one.
template <class Layer, int kColumns>
__device__ void stage_results(const float (&result)[kColumns][4], const float (&biases)[kColumns],
                              const SharedWords (&places)[kColumns], int cell, const bool (&exists)[2],
                              const FirstLayerShape& shape) {
  constexpr int kValues = Layer::kPooled ? 2 : 4;
  float values[kColumns * kValues];
#pragma unroll
  for (int column = 0; column < kColumns; ++column) {
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      const float sum = Layer::kPooled ? fmaxf(result[column][2 * i], result[column][2 * i + 1]) : result[column][i];
      values[column * kValues + i] = Layer::kFinished ? sum + biases[column] : sum;
    }
  }
  if constexpr (Layer::kFinished) activate(shape.activation, values);
  if constexpr (Layer::kPooled) {
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
      const SharedWords to = places[column] + cell * 4;
      if (exists[0]) store_shared(to, values[2 * column]);
      if (exists[1]) store_shared(to + shape.cells * 4, values[2 * column + 1]);
    }
  } else if (shape.columns % 2 == 0) {
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
      const SharedWords to = places[column] + cell * 8;
      if (exists[0]) store_shared(to, float2{values[4 * column], values[4 * column + 1]});
      if (exists[1]) store_shared(to + shape.columns * 4, float2{values[4 * column + 2], values[4 * column + 3]});
    }
  } else {
    const int row = divide(cell, shape.cells_inverse);
    const bool two = 2 * (cell - row * shape.cells) + 1 < shape.columns;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (!exists[i]) continue;
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        const SharedWords to = places[column] + (2 * cell - row + i * shape.columns) * 4;
        store_shared(to, values[4 * column + 2 * i]);
        if (two) store_shared(to + 4, values[4 * column + 2 * i + 1]);
      }
    }
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
