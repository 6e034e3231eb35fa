#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "convlab/base/bf16.h"
#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_jobs.h"
#include "convlab/kernels/cpu/simd/matrix_tiles.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

/// Returns the tile shape for `rows` rows of weights and this K dimension; tiles have a multiple of `even` rows.
inline TileWeights tile_weights(int64_t rows, int64_t even, const TermTiles& terms, int64_t segments, Math math,
                                bool exact_x) {
  TileWeights w{.row_tiles = ceil_div(rows, kTileRows), .term_tiles = checked_mul(segments, terms.tiles)};
  w.shape = {.rows = static_cast<int>(round_up(ceil_div(rows, w.row_tiles), even)),
             .depth = static_cast<int>(terms.depth)};
  w.products = math == Math::bf16 ? Products::one : exact_x ? Products::two : Products::three;
  return w;
}

/// Writes w.bytes() bytes to `to`. weight(row, tile along K, l, e) returns the weight of element e of pair l.
template <class Weight>
void pack_weights(const TileWeights& w, std::byte* to, Weight weight) {
  std::memset(to, 0, static_cast<size_t>(w.bytes()));
  for (int64_t tile = 0; tile < w.row_tiles; ++tile) {
    for (int64_t terms = 0; terms < w.term_tiles; ++terms) {
      auto* const low = reinterpret_cast<uint16_t*>(to + w.tile_at(tile, terms, 0));
      auto* const high = reinterpret_cast<uint16_t*>(to + w.tile_at(tile, terms, w.parts() - 1));
      for (int64_t i = 0; i < w.shape.rows * kTileRows * 2; ++i) {
        const int64_t row = i / (kTileRows * 2), l = i / 2 % kTileRows;
        const float value = l < w.shape.depth ? weight(tile * w.shape.rows + row, terms, l, i % 2) : 0;
        const float rounded = from_bf16(to_bf16(value));
        low[i] = std::isfinite(rounded) ? to_bf16(value - rounded) : 0;
        high[i] = to_bf16(value);  // last: it may be the only part
      }
    }
  }
}

/// Returns the layout for a math class: bf16 or bf16x2.
constexpr Format pairs_layout(Math math) { return math == Math::bf16 ? kNchw16n2cBf16 : kNchw16n2cBf16x2; }

}  // namespace convlab
