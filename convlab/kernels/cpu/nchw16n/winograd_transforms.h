#pragma once

#include <array>
#include <cstdint>

namespace convlab {

// Winograd transforms along the width, of pixels 16 images wide (see cpu/lanes.h). Eight input pixels of a row produce
// 9 - s outputs of a filter of s columns, for s from 2 to 7, with eight products instead of s * (9 - s):
//
//   y = A' [(G g) * (B' d)],   d: 8 pixels, g: s filter elements, y: 9 - s outputs, * elementwise
//
// This is the minimal filtering of Toom and Cook at the points 0, 1, -1, 2, -2, 1/2, -1/2 and infinity (Winograd,
// "Arithmetic Complexity of Computations", 1980; Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
// 2016). The elements of B' and A' have few digits, so they add no rounding error of their own. B' is the same for
// every s.

inline constexpr int64_t kWinogradPoints = 8;

/// Returns the outputs per tile for a filter of `s` columns.
constexpr int64_t winograd_outputs(int64_t s) { return kWinogradPoints + 1 - s; }

/// Returns G g for a filter row of `s` elements.
std::array<double, kWinogradPoints> winograd_filter(const float* row, int64_t s);

/// Computes B' d for `tiles` tiles, each `step` pixels right of the previous one. Point i of tile t goes to to[i *
/// point_step + 16 t].
void winograd_input(const float* row, int64_t tiles, int64_t step, float* to, int64_t point_step);

/// Input and output of A' m for neighboring tiles of a row.
struct WinogradOutput {
  const float* from = nullptr;  ///< point i of tile j: from[i * point_step + 16 j]
  int64_t point_step = 0;
  int64_t pixels = 0;  ///< to write: the last tile may have fewer than the others
  float bias = 0;      ///< added to every output
  float* y = nullptr;
};

/// Computes the outputs. `outputs`: pixels per tile, winograd_outputs().
void winograd_output(const WinogradOutput& job, int64_t outputs);

}  // namespace convlab
