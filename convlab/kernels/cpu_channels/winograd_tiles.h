#pragma once

#include <array>
#include <cstdint>

#include "convlab/conv/problem.h"
#include "convlab/kernels/cpu_channels/channels.h"

namespace convlab {

// Winograd's transforms in both directions of an image, in Layout::channel_lanes. A tile of 2x2 or 4x4 outputs of a 3x3
// filter takes 4x4 or 6x6 pixels, and as many products instead of 36 or 144:
//
//   Y = A' [(G g G') * (B' d B)] A,   d: pixels, g: the filter, Y: outputs, * by element
//
// the minimal filtering of Toom and Cook (Winograd, "Arithmetic Complexity of Computations", 1980; Lavin and Gray,
// "Fast Algorithms for Convolutional Neural Networks", 2016). 2x2 outputs: at the points 0, 1, -1 and infinity. 4x4
// outputs: at 0, 5/8, -5/8, 5/4, -5/4 and infinity: numbers about 1, whose powers are float32 numbers, make half the
// error of 0, 1, -1, 2, -2.

/// How a step's outputs are cut into tiles; those of an image are row after row, and image after image.
struct WinogradTiles {
  int64_t outputs = 4;            ///< of a tile, in both directions: 2 or 4
  int64_t rows = 0, columns = 0;  ///< tiles of an image

  int64_t side() const { return outputs + 2; }  ///< pixels under a tile, in both directions
  int64_t points() const { return side() * side(); }
  int64_t per_image() const { return rows * columns; }
};

/// The points of tiles of 4x4 outputs are 0, both of either sign, and infinity.
inline constexpr float kWinogradA = 0.625f, kWinogradB = 1.25f;

/// Where the tile of an index is. Rows and columns are of tiles.
struct TilePlace {
  int64_t image, row, column;

  TilePlace(const WinogradTiles& tiles, int64_t index)
      : image(index / tiles.per_image()),
        row(index % tiles.per_image() / tiles.columns),
        column(index % tiles.columns) {}

  void advance(const WinogradTiles& tiles) {
    if (++column < tiles.columns) return;
    column = 0;
    if (++row < tiles.rows) return;
    row = 0;
    ++image;
  }
};

/// G g G' of a 3x3 filter, in the order of points.
std::array<double, 36> winograd_filter_points(const float* filter, int64_t outputs);

/// A stretch of tiles: transformed, or to be transformed back.
struct WinogradStretch {
  const ConvArgs& args;
  const WinogradTiles& tiles;
  int64_t first = 0, count = 0;  ///< tiles
  int64_t point_step = 0;        ///< floats from point to point
};

/// B' d B of the stretch in blocks [begin, end) of 8 channels: to[point][block][tile][8], `block_step` floats a block.
void winograd_to_points(const WinogradStretch& stretch, int64_t begin, int64_t end, float* to, int64_t block_step);

/// A' m A of the stretch in 8 maps from `map` on, with what the step does in the end, into y; from[point][tile][16].
void winograd_from_points(const WinogradStretch& stretch, int64_t map, const float* from);

}  // namespace convlab
