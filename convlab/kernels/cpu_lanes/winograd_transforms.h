#pragma once

#include <array>
#include <cstdint>

namespace convlab {

// Winograd's transforms along the width, of pixels 16 images wide (see cpu/lanes.h). Eight pixels of a row in, 9 - s
// outputs of a filter of s columns out, for s from 2 to 7; eight products instead of s * (9 - s):
//
//   y = A' [(G g) * (B' d)],   d: 8 pixels, g: s filter elements, y: 9 - s outputs, * by element
//
// the minimal filtering of Toom and Cook at the points 0, 1, -1, 2, -2, 1/2, -1/2 and infinity (Winograd, "Arithmetic
// Complexity of Computations", 1980; Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016). B' and
// A' have few digits, so that they add no error of their own. B' is the same for every s.

inline constexpr int64_t kWinogradPoints = 8;

/// Outputs of a tile for a filter of `s` columns.
constexpr int64_t winograd_outputs(int64_t s) { return kWinogradPoints + 1 - s; }

/// G g, for a filter row of `s` elements.
std::array<double, kWinogradPoints> winograd_filter(const float* row, int64_t s);

/// B' d for `tiles` tiles, each `step` pixels right of the one before: pixel t of point i is to[i * point_step + 16 t].
void winograd_input(const float* row, int64_t tiles, int64_t step, float* to, int64_t point_step);

/// A' m for neighbouring tiles of a row.
struct WinogradOutput {
  const float* from = nullptr;  ///< point i of tile j: from[i * point_step + 16 j]
  int64_t point_step = 0;
  int64_t pixels = 0;  ///< wanted: the last tile may have fewer than others
  float bias = 0;      ///< added to every output
  float* y = nullptr;
};

/// `outputs`: pixels of a tile, winograd_outputs().
void winograd_output(const WinogradOutput& job, int64_t outputs);

}  // namespace convlab
