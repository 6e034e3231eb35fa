#pragma once

#include <array>
#include <cstdint>

#include "convlab/conv/problem.h"
#include "convlab/kernels/cpu/nchw8c/channels.h"

namespace convlab {

// Winograd transforms in both dimensions of an image, in nchw8c. A tile of 2x2 or 4x4 outputs of a 3x3
// filter reads 4x4 or 6x6 pixels and takes 16 or 36 products instead of 36 or 144:
//
//   Y = A' [(G g G') * (B' d B)] A,   d: pixels, g: the filter, Y: outputs, * elementwise
//
// This is the minimal filtering of Toom and Cook (Winograd, "Arithmetic Complexity of Computations", 1980; Lavin and
// Gray, "Fast Algorithms for Convolutional Neural Networks", 2016). 2x2 outputs use the points 0, 1, -1 and infinity.
// 4x4 outputs use 0, 5/8, -5/8, 5/4, -5/4 and infinity: numbers near 1 whose powers are exact in float32 have half the
// error of 0, 1, -1, 2, -2.

/// How a step's outputs are partitioned into tiles: row-major in an image, image after image.
struct WinogradTiles {
  int64_t outputs = 4;            ///< of a tile, in each dimension: 2 or 4
  int64_t rows = 0, columns = 0;  ///< tiles of an image

  int64_t side() const { return outputs + 2; }  ///< pixels under a tile, in each dimension
  int64_t points() const { return side() * side(); }
  int64_t per_image() const { return rows * columns; }
};

/// The points of tiles of 4x4 outputs are 0, these two with either sign, and infinity.
inline constexpr float kWinogradA = 0.625f, kWinogradB = 1.25f;

/// The position of the tile with an index. Rows and columns are counted in tiles.
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

/// Returns G g G' of a 3x3 filter, in the order of points.
std::array<double, 36> winograd_filter_points(const float* filter, int64_t outputs);

/// A range of tiles that is transformed, or transformed back.
struct WinogradTileRange {
  const ConvArgs& args;
  const WinogradTiles& tiles;
  int64_t first = 0, count = 0;  ///< tiles
  int64_t point_step = 0;        ///< floats between points
};

/// Transforms the range for blocks [begin, end) of 8 channels: B' d B to to[point][block][tile][8], with `block_step`
/// floats between blocks.
void winograd_to_points(const WinogradTileRange& range, int64_t begin, int64_t end, float* to, int64_t block_step);

/// Transforms sums from[point][tile][16] back, A' m A, for the range and 8 output channels from `map` on, and writes y
/// with the epilogue of the step.
void winograd_from_points(const WinogradTileRange& range, int64_t map, const float* from);

}  // namespace convlab
