#pragma once

#include <cstdint>

#include "convlab/kernels/cpu_bytes/byte_levels.h"
#include "convlab/kernels/cpu_bytes/byte_pairs.h"
#include "convlab/kernels/cpu_bytes/byte_unit.h"

namespace convlab {

// Sums of products with maps in the lanes: what convolutions amount to in Layout::channel_bytes.
//
//   y[y_at[j]][m] = level of (start[m] + sum over rows r, columns s, units u and products i
//                       of x[x_at[j] + r * row_step + s * column_step + 4 u + i] * w[r][s][u][m][i]) * factor[m]
//
// for places j, each a pixel, and maps m, in panels. Where the channels of a filter's row lie together, they are one
// column. `start` takes in the bias and what the zero point of x amounts to. The order of sums does not matter, since
// they are exact.
//
//   AMX: tiles, as kernels/cpu/tile_sums-inl.h has them: panels of 32 maps
//   AVX-512: 12 pixels x 32 maps: 24 sums, 2 weights, 1 pixel of 32 registers; 14 loads for 24 VPDPBUSD
//   AVX2: 4 pixels x 16 maps: 8 sums, 4 weights of two units, 2 pixels of 16 registers; 12 loads for 16 VPMADDUBSW,
//         8 additions of 16 bits, 8 VPMADDWD and 8 additions of 32 (see byte_pairs.h)
//
// In registers a unit of weights is loaded once for some pixels, and a pixel's unit is broadcast.

struct ByteSums {
  ByteUnit unit = ByteUnit::pairs;
  const uint8_t* x = nullptr;
  const int32_t* x_at = nullptr;   ///< by place, in bytes
  const int32_t* y_at = nullptr;   ///< by place: the number of its pixel; tiles only: negative, it has none
  int64_t count = 0;               ///< of places
  int64_t place_step = 0;          ///< places so far apart are a row
  int64_t row_places = 0;          ///< of every row but the last one, which may have fewer
  int64_t rows = 0, row_step = 0;  ///< steps are in bytes
  int64_t columns = 0, column_step = 0;
  int64_t units = 0;           ///< of a column
  const uint8_t* w = nullptr;  ///< by panel: [rows][columns][unit][maps], 4 bytes each, units as byte_units_held() has
                               ///< them, maps as byte_panel_place() has them
  const BytePanel* panels = nullptr;  ///< but for tiles: the first panel and those behind it
  const int32_t* start = nullptr;     ///< by panel and place in it
  const float* factors = nullptr;     ///< by panel and place in it
  int64_t maps = 0;                   ///< that there are
  LevelRule rule;
  const uint8_t* added = nullptr;  ///< an array like y, or nullptr
  ByteSum sum;                     ///< with it; of an `a` less the rule's zero point
  uint8_t* y = nullptr;            ///< the first pixel's first map
  int64_t y_step = 0;              ///< bytes from pixel to pixel, of y and of `added`

  /// Bytes from what the first tap reads to what another one does.
  int64_t tap_at(int64_t row, int64_t column) const { return row * row_step + column * column_step; }

  /// Where a panel's weights are.
  const uint8_t* of_panel(const BytePanel& panel) const { return w + panel.at - panels->at; }
};

/// Maps of a panel where `left` are left.
int64_t byte_panel_maps(int64_t left);

/// Maps of a vector, of which a panel has one or two.
int64_t byte_vector_maps();

/// The place of a panel's map among its weights.
int64_t byte_panel_place(int64_t maps, int64_t map);

/// Units of a column whose weights are held, of so many that it has, and the place of one among them: others are 0.
int64_t byte_units_held(ByteUnit unit, int64_t units);
int64_t byte_unit_place(ByteUnit unit, int64_t units, int64_t number);

/// ByteUnit::tiles needs AVX-512; without AMX its tiles are imitated, for tests.
void sum_bytes(const ByteSums& sums);

}  // namespace convlab
