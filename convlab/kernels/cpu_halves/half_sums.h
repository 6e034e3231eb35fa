#pragma once

#include <cstdint>

#include "convlab/conv/epilogue.h"
#include "convlab/kernels/cpu/bf16.h"

namespace convlab {

// Sums of products of bfloat16 with maps in the lanes: what convolutions amount to in Layout::channel_halves.
//
//   y[y_at[j]][m] = activation of (bias[m] + sum over rows r, columns s, pairs l and elements e
//                   of x[x_at[j] + r * row_step + s * column_step + 2 l + e] * w[r][s][l][m][e] + added[y_at[j]][m])
//
// for places j and maps m, in panels of 32. Sums are float32, and rounded once. Where the channels of a filter's row
// lie together, they are one column.
//
//   AMX: a tile A is 16 places x up to 16 pairs, which lie where they are: a pixel's channels are a row. Two of them
//     times two tiles B of 16 maps: four loads for four multiplications. (bf16_tiles-inl.h has tiles for other
//     processors, too.)
//   AVX512-BF16: 12 places x 32 maps in registers, a place's pair is broadcast: 14 loads for 24 multiplications.

inline constexpr int64_t kTilePlaces = 16;

struct HalfSums {
  Bf16Unit unit = Bf16Unit::vectors;
  const uint16_t* x = nullptr;
  const int32_t* x_at = nullptr;  ///< by place, in elements
  const int32_t* y_at = nullptr;  ///< by place: the number of its pixel; negative: it has none, and is not written
  int64_t count = 0;              ///< of places
  int64_t place_step = 0;         ///< places so far apart are a row; tiles read on behind a row of fewer than 16
  int64_t row_places = 0;         ///< of every row but the last one, which may have fewer
  int64_t rows = 0, row_step = 0;
  int64_t columns = 0, column_step = 0;
  int64_t phases = 1;  ///< every so manyth row and column is of a plane, whose row_step and column_step these are
  int64_t phase_row_step = 0, phase_column_step = 0;  ///< to the next plane
  int64_t pairs = 0;                                  ///< of a column
  const uint16_t* w = nullptr;  ///< by panel: [rows][columns][pair][maps of the panel][2], pairs as TermTiles cuts them
  int64_t maps = 0;
  const float* bias = nullptr;      ///< by map, or null
  const uint16_t* added = nullptr;  ///< an array like y, or null
  int64_t added_step = 0;           ///< elements from pixel to pixel
  Activation activation;
  uint16_t* y = nullptr;
  int64_t y_step = 0;

  /// Elements from what the first tap reads to what another one does.
  int64_t tap_at(int64_t row, int64_t column) const {
    if (phases == 1) return row * row_step + column * column_step;
    return row % phases * phase_row_step + row / phases * row_step + column % phases * phase_column_step +
           column / phases * column_step;
  }
};

void sum_halves(const HalfSums& sums);

}  // namespace convlab
