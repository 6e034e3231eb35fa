#pragma once

#include <cstdint>

namespace convlab {

/// Products of Winograd's transform at one point:
///
///   y[tile][map] = sum over channels of x[tile][channel] * w[channel][map]
///
/// always in the same order, whatever the number of tiles and maps.
struct PointProducts {
  const float* x = nullptr;  ///< [channels / 8][tile][8]
  int64_t x_step = 0;        ///< floats from 8 channels to the next
  int64_t tiles = 0;
  int64_t channels = 0;      ///< a multiple of 8
  const float* w = nullptr;  ///< panels of 16 maps, [channels][16]; the last one may be [channels][8]
  int64_t maps = 0;          ///< a multiple of 8
  float* y = nullptr;        ///< a panel's sums: [tile][16]
  int64_t y_step = 0;        ///< floats from panel to panel
};

inline constexpr int64_t kPointPanelMaps = 16;

/// Fetches what follows the panels ahead of time, too: they should lie in the order of their use.
void point_products(const PointProducts& job);

}  // namespace convlab
