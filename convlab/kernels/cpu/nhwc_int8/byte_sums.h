#pragma once

#include <cstdint>

#include "convlab/kernels/cpu/nhwc_int8/byte_levels.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_pairs.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_unit.h"

namespace convlab {

// Sums of products with output channels in the lanes: the arithmetic of convolutions in nhwc4 uint8.
//
//   y[y_at[j]][m] = quantize((start[m] + sum over rows r, columns s, units u and products i
//                       of x[x_at[j] + r * row_step + s * column_step + 4 u + i] * w[r][s][u][m][i]) * factor[m])
//
// for positions j, each a pixel, and output channels m, in panels. If the channels of a filter row are contiguous, they
// are one column. `start` includes the bias and the contribution of the zero point of x. The order of additions does
// not matter, since they are exact.
//
//   AMX: tiles, as in kernels/cpu/simd/tile_sums-inl.h: panels of 32 output channels
//   AVX-512: 12 pixels x 32 output channels: 24 sums, 2 weights, 1 pixel of 32 registers; 14 loads for 24 VPDPBUSD
//   AVX2: 4 pixels x 16 output channels: 8 sums, 4 weights of two units, 2 pixels of 16 registers; 12 loads for
//         16 VPMADDUBSW, 8 16-bit additions, 8 VPMADDWD and 8 32-bit additions (see byte_pairs.h)
//
// Without tiles, a unit of weights is loaded once for several pixels, and a pixel's unit is broadcast.

struct ByteSums {
  ByteUnit unit = ByteUnit::pairs;
  const uint8_t* x = nullptr;
  const int32_t* x_at = nullptr;   ///< by position, in bytes
  const int32_t* y_at = nullptr;   ///< by position: the index of its pixel; tiles only: negative if it has none
  int64_t count = 0;               ///< number of positions
  int64_t place_step = 0;          ///< bytes between adjacent positions of a row
  int64_t row_places = 0;          ///< positions of every row but the last one, which may have fewer
  int64_t rows = 0, row_step = 0;  ///< steps are in bytes
  int64_t columns = 0, column_step = 0;
  int64_t units = 0;                  ///< per column
  const uint8_t* w = nullptr;         ///< by panel: [rows][columns][unit][maps], 4 bytes each, in the order of
                                      ///< byte_unit_place() and byte_panel_place()
  const BytePanel* panels = nullptr;  ///< not for tiles: this panel and those that follow
  const int32_t* start = nullptr;     ///< by panel and index in it
  const float* factors = nullptr;     ///< by panel and index in it
  int64_t maps = 0;                   ///< output channels
  LevelRule rule;
  const uint8_t* added = nullptr;  ///< an array like y, or nullptr
  ByteSum sum;                     ///< the addition of `added` to an `a` without the rule's zero point
  uint8_t* y = nullptr;            ///< first output channel of the first pixel
  int64_t y_step = 0;              ///< bytes between pixels, of y and of `added`

  /// Returns the byte offset of a filter tap relative to the first one.
  int64_t tap_at(int64_t row, int64_t column) const { return row * row_step + column * column_step; }

  /// Returns the address of a panel's weights.
  const uint8_t* of_panel(const BytePanel& panel) const { return w + panel.at - panels->at; }
};

/// Returns the output channels of a panel if `left` remain.
int64_t byte_panel_maps(int64_t left);

/// Returns the output channels of a vector; a panel has one or two vectors.
int64_t byte_vector_maps();

/// Returns the index of a panel's output channel among its weights.
int64_t byte_panel_place(int64_t maps, int64_t map);

/// Return how many units are stored for a column of `units` units, and the index of unit `number` among them; the
/// additional ones are 0.
int64_t byte_units_held(ByteUnit unit, int64_t units);
int64_t byte_unit_place(ByteUnit unit, int64_t units, int64_t number);

/// ByteUnit::tiles needs AVX-512; without AMX its tiles are emulated, for tests.
void sum_bytes(const ByteSums& sums);

}  // namespace convlab
