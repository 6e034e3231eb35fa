#pragma once

#include "convlab/kernels/cuda/deep_layer/deep_layer.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// The inner loop of deep_layer.cuh's consumers.

/// The B fragments of a step and filter row.
template <int kColumns>
struct FilterRow {
  uint32_t b[kColumns][2];

  __device__ void load(const uint2* filters) {
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
      const uint2 words = filters[column * 32];
      b[column][0] = words.x;
      b[column][1] = words.y;
    }
  }
};

/// Computes the sums of a unit: sum[row][column of 8 output channels], as D fragments of mma_fp16. `pixel`: the first
/// slot of this lane's position (see Position); `offsets`: those of the halves; `filters`: the first B fragment.
///
/// A filter row is multiplied by the input rows of all output rows before the next filter row, so that consecutive mma
/// instructions add to different sums and do not wait for each other. a[i] has input rows i, i + kRows, ...: a row is
/// loaded as soon as the previous one has been used, long before it is needed. The rows of the next step and the next
/// filter row are prefetched likewise.
template <int kR, int kColumns, int kRows>
__device__ void multiply_unit(float (&sum)[kRows][kColumns][4], const DeepLayer& layer, SharedAddress pixel,
                              const int* offsets, const uint2* filters) {
  const int row_bytes = layer.pitch * 16;
#pragma unroll
  for (int i = 0; i < kRows * kColumns * 4; ++i) sum[i / 4 / kColumns][i / 4 % kColumns][i % 4] = 0;
  FilterRow<kColumns> filter;
  filter.load(filters);
  SharedAddress from = pixel + *offsets;
  uint32_t a[kRows][4];
#pragma unroll
  for (int i = 0; i < kRows; ++i) load_matrices(a[i], from + i * row_bytes);
  const auto multiply_step = [&]<bool kLast>() {
    from += kRows * row_bytes;
    if (!kLast) offsets += 2;
    const SharedAddress next_from = kLast ? 0 : pixel + *offsets;
#pragma unroll
    for (int row = 0; row < kR; ++row) {
      FilterRow<kColumns> next;
      filters += kColumns * 32;
      if (!kLast || row + 1 < kR) next.load(filters);
#pragma unroll
      for (int j = 0; j < kRows; ++j) {
        const int slot = (row + j) % kRows;
#pragma unroll
        for (int column = 0; column < kColumns; ++column) {
          mma_fp16(sum[j][column], a[slot], filter.b[column], sum[j][column]);
        }
        if (row + 1 < kR && j == 0) {
          load_matrices(a[slot], from);
          from += row_bytes;
        } else if (row + 1 == kR && !kLast) {
          load_matrices(a[slot], next_from + slot * row_bytes);
        }
      }
      filter = next;
    }
    from = next_from;
  };
#pragma unroll 1
  for (int step = 1; step < layer.steps; ++step) multiply_step.template operator()<false>();
  multiply_step.template operator()<true>();
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
