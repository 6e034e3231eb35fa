#pragma once

#include <cstdint>

namespace convlab {

/// Products of the Winograd transform at one point:
///
///   y[tile][k] = sum over channels c of x[tile][c] * w[c][k]
///
/// always in the same order, whatever the number of tiles and output channels.
struct PointProducts {
  const float* x = nullptr;  ///< [channels / 8][tile][8]
  int64_t x_step = 0;        ///< floats between blocks of 8 channels
  int64_t tiles = 0;
  int64_t channels = 0;      ///< a multiple of 8
  const float* w = nullptr;  ///< panels of 16 output channels, [channels][16]; the last one may be [channels][8]
  int64_t maps = 0;          ///< output channels, a multiple of 8
  float* y = nullptr;        ///< a panel's sums: [tile][16]
  int64_t y_step = 0;        ///< floats between panels
};

inline constexpr int64_t kPointPanelMaps = 16;

/// Also prefetches what follows the panels in memory, so they should be stored in the order of their use.
void point_products(const PointProducts& job);

}  // namespace convlab
