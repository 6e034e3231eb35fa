#pragma once

#include <cstdint>

#include "convlab/conv/epilogue.h"
#include "convlab/kernels/cpu/simd/bf16_tiles.h"

namespace convlab {

// GEMM of bf16 operands with output channels in the lanes: the core of convolutions in bf16 `nhwc`.
//
//   y[y_at[j]][m] = activation of (bias[m] + sum over rows r, columns s, pairs l and elements e
//                   of x[x_at[j] + r * row_step + s * column_step + 2 l + e] * w[r][s][l][m][e] + added[y_at[j]][m])
//
// for output positions j (`places`) and output channels m (`maps`), in panels of 32. Sums are fp32, and rounded once.
// If the channels of a filter row are contiguous, they form one column.
//
//   AMX: a tile A is 16 positions x up to 16 pairs, loaded in place: a pixel's channels are a row. Two of them times
//     two tiles B of 16 output channels: four loads for four multiplications. (bf16_tiles-inl.h has tiles for other
//     processors, too.)
//   AVX512-BF16: 12 positions x 32 output channels in registers; each position's pair is broadcast: 14 loads for 24
//     multiplications.

inline constexpr int64_t kTilePlaces = 16;

struct HalfSums {
  Bf16Unit unit = Bf16Unit::vectors;
  const uint16_t* x = nullptr;
  const int32_t* x_at = nullptr;  ///< per position, in elements
  const int32_t* y_at = nullptr;  ///< per position: index of its pixel; negative: no pixel, not written
  int64_t count = 0;              ///< positions
  int64_t place_step = 0;  ///< elements between positions of a row; tiles read past the end of a row of fewer than 16
  int64_t row_places = 0;  ///< positions per row; the last row may have fewer
  int64_t rows = 0, row_step = 0;
  int64_t columns = 0, column_step = 0;
  int64_t phases = 1;  ///< tap (r, c) is in plane (r % phases, c % phases); the steps above are within a plane
  int64_t phase_row_step = 0, phase_column_step = 0;  ///< elements to the next plane
  int64_t pairs = 0;                                  ///< channel pairs per column
  const uint16_t* w = nullptr;  ///< [panel][row][column][pair][output channel][2], pairs in TermTiles order
  int64_t maps = 0;
  const float* bias = nullptr;      ///< per output channel, or null
  const uint16_t* added = nullptr;  ///< an array like y, or null
  int64_t added_step = 0;           ///< elements from pixel to pixel
  Activation activation;
  uint16_t* y = nullptr;
  int64_t y_step = 0;

  /// Elements from what the first tap reads to what tap (row, column) reads.
  int64_t tap_at(int64_t row, int64_t column) const {
    if (phases == 1) return row * row_step + column * column_step;
    return row % phases * phase_row_step + row / phases * row_step + column % phases * phase_column_step +
           column / phases * column_step;
  }
};

void sum_halves(const HalfSums& sums);

}  // namespace convlab
