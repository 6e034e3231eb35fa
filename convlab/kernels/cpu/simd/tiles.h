#pragma once

#include <cstdint>

#include "convlab/base/checked.h"
#include "convlab/conv/problem.h"

namespace convlab {

// The arithmetic of direct convolution, independent of image layouts:
//
//   y[m][t] = sum over i of w[i][m] * x[offset[i] + t]        for output channels m and pixels t
//
// in register tiles of several output channels by several vectors of pixels. The caller's packing determines what a
// "pixel" is and where those of reduction index i lie: adjacent ones may be pixels of a row, or the same pixel of many
// images.

/// One call: a few output channels, all pixels.
struct TileJob {
  const float* x = nullptr;  ///< may be read up to kTileOverrun floats beyond the last pixel of a reduction index
  const uint32_t* offsets = nullptr;  ///< by reduction index, in floats; if pooled, four each: see below
  int64_t terms = 0;                  ///< length of the reduction
  const float* w = nullptr;           ///< [terms][maps]
  int maps = 0;                       ///< 1 to most_maps(pooled)
  int64_t pixels = 0;
  float* y = nullptr;  ///< rows of output channels, `pitch` floats apart; nothing is written beyond the pixels
  int64_t pitch = 0;
  bool add = false;     ///< add to y; never with pooled
  bool pooled = false;  ///< each y[m][t] is the maximum of the sums at the four offsets; NaN propagates
};

/// Reduction indices summed in one go. Longer reductions are split, so that their error does not grow with the square
/// root of their length: first by input channel, then within a channel.
inline constexpr int64_t kTermsAtATime = 768;

/// Returns how many input channels of a group are summed in one go: as many as fit, in nearly equal parts; at least
/// one.
int64_t channels_at_a_time(const ConvProblem& problem);

/// The output channels of a group, split into tiles of nearly equal size, of at most `most` output channels.
struct MapTiles {
  int64_t maps, count;

  MapTiles(const ConvProblem& problem, int64_t most) : maps(problem.maps_per_group()), count(ceil_div(maps, most)) {}

  /// The first output channel of a tile; for tile `count`, the end of the last.
  int64_t first(int64_t tile) const { return maps * tile / count; }
};

/// Calls body(first output channel, output channels) for each of MapTiles.
template <class Body>
void for_each_map_tile(const ConvProblem& problem, int64_t most, const Body& body) {
  const MapTiles tiles(problem, most);
  for (int64_t tile = 0; tile < tiles.count; ++tile) body(tiles.first(tile), tiles.first(tile + 1) - tiles.first(tile));
}

/// A vector has at most 16 floats, and a tile at most 8 of them.
constexpr int64_t kTileOverrun = 128;

/// Returns the most output channels of one call, which depends on the registers of the processor.
int most_maps(bool pooled);

void sum_tiles(const TileJob& job);

}  // namespace convlab
