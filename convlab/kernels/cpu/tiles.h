#pragma once

#include <cstdint>

#include "convlab/base/checked.h"
#include "convlab/conv/problem.h"

namespace convlab {

// The arithmetic of direct convolution, apart from any layout of images:
//
//   y[m][t] = sum over terms i of w[i][m] * x[offset[i] + t]        for maps m and pixels t
//
// in register tiles of several maps by several vectors of pixels. What a "pixel" is, and where a term's pixels lie, is
// the packing's business: the neighbours may be pixels of a row, or the same pixel of many images.

/// One call: a few maps, all pixels.
struct TileJob {
  const float* x = nullptr;           ///< may be read up to kTileOverrun floats beyond the last pixel of a term
  const uint32_t* offsets = nullptr;  ///< of each term in floats; if pooled, four a term: see below
  int64_t terms = 0;
  const float* w = nullptr;  ///< terms x maps
  int maps = 0;              ///< 1 to most_maps(pooled)
  int64_t pixels = 0;
  float* y = nullptr;  ///< maps, `pitch` floats apart; nothing is written beyond the pixels
  int64_t pitch = 0;
  bool add = false;     ///< add to y; never with pooled
  bool pooled = false;  ///< each y[m][t] is the largest of the four sums that the offsets of the terms give; NaN wins
};

/// Terms summed in one go. Longer sums are cut, so that their error does not grow with the square root of their length:
/// first by channels, then a channel's own terms.
inline constexpr int64_t kTermsAtATime = 768;

/// Channels of a group whose terms are summed in one go: as many as fit, in nearly equal parts; at least one.
int64_t channels_at_a_time(const ConvProblem& problem);

/// The maps of a group, cut into tiles of nearly equal size, of at most `most` maps.
struct MapTiles {
  int64_t maps, count;

  MapTiles(const ConvProblem& problem, int64_t most) : maps(problem.maps_per_group()), count(ceil_div(maps, most)) {}

  /// A tile's first map; of tile `count`, the end of the last.
  int64_t first(int64_t tile) const { return maps * tile / count; }
};

/// Calls body(first map, maps) for each of MapTiles.
template <class Body>
void for_each_map_tile(const ConvProblem& problem, int64_t most, const Body& body) {
  const MapTiles tiles(problem, most);
  for (int64_t tile = 0; tile < tiles.count; ++tile) body(tiles.first(tile), tiles.first(tile + 1) - tiles.first(tile));
}

/// A vector has at most 16 floats, and a tile at most 8 of them.
constexpr int64_t kTileOverrun = 128;

/// The most maps of one call: depends on the registers of the processor.
int most_maps(bool pooled);

void sum_tiles(const TileJob& job);

}  // namespace convlab
