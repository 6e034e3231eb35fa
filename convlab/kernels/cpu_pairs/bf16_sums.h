#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/conv/epilogue.h"
#include "convlab/kernels/cpu/bf16.h"
#include "convlab/kernels/cpu/matrix_tiles.h"

namespace convlab {

// Sums of products of bfloat16 operands with images in the lanes, in float32: what convolution and dense layers amount
// to in Layout::lane_pairs and Layout::split_lane_pairs.
//
// Both are laid out so that operands are multiplied where they lie. A "pair" is 64 bytes, a line of the cache: two
// neighbouring channels (or pixels) of 16 images, which is a row of a tile B (see bf16_tiles-inl.h). Neighbouring pairs
// are neighbouring terms: channels of a pixel, then pixels of a row; so that up to 16 pairs are a tile B in place, 1
// KiB in one piece, without a copy or an idle lane. A tile A is weights of up to 16 rows (maps, or neurons) for these
// terms. C is a row for each map, 16 images wide, as pooling, activations and the next layer's layout want them:
//
//        terms            images                images
//   maps [ A ]  x  terms [ B at one pixel ] =  maps [ C at that pixel ]
//
// Two tiles A times two tiles B (pixels, or blocks of images) fill four tiles C; four loads for four multiplications.
// While one step's products are under way, the one before is pooled, activated and stored from memory.

inline constexpr int64_t kPairBytes = 64;

/// How many products make one of float32's precision, or nearly. one: bfloat16. two: weights in two parts, w = high +
/// low, times x that is exact. three: both in two parts, low * low left out.
enum class Products { one = 1, two = 2, three = 3 };

/// Weights: by two tiles of rows, tile of terms, part (low, high, or the only one) and tile of rows.
struct TileWeights {
  const std::byte* data = nullptr;
  int64_t row_tiles = 0, term_tiles = 0;
  TileShape shape;
  Products products = Products::one;

  int64_t parts() const { return products == Products::one ? 1 : 2; }
  int64_t bytes() const { return row_tiles * term_tiles * parts() * kTileBytes; }
  /// Where a tile begins: for some row tile and term tile, of the low part (0) or the high part (parts() - 1).
  int64_t tile_at(int64_t row_tile, int64_t term_tile, int64_t part) const {
    const int64_t two = row_tile / 2 * 2, together = row_tiles - two >= 2 ? 2 : 1;
    return (two * term_tiles * parts() + (term_tile * parts() + part) * together + row_tile - two) * kTileBytes;
  }
};

/// What becomes of sums: bias, activation, and where they go. Outputs are places, or blocks of 16 images.
struct PairsEnd {
  int64_t maps = 0;
  const float* bias = nullptr;  ///< by map; NaN only as the quiet one: see quiet_bias()
  Activation activation;
  std::byte* pairs = nullptr;             ///< if given: ceil(maps / 2) pairs per output; an odd last one has a 0
  int64_t pairs_step = 0;                 ///< bytes from output to output
  int64_t low_at = 0;                     ///< bytes from the high part to the low part; 0: there is none
  float* floats = nullptr;                ///< otherwise: 16 floats per output and map
  int64_t floats_step = 0, map_step = 0;  ///< floats from output to output, and from map to map
};

/// to[map] = bias[map], or 0 where `bias` is null; NaN as the quiet one, which rounding to bfloat16 leaves NaN.
void quiet_bias(const float* bias, int64_t maps, float* to);

/// Some outputs of a convolution, all maps. Places are where tiles B begin.
struct PairConvolution {
  TileWeights w;
  const std::byte* x = nullptr;
  int64_t low_at = 0;                ///< bytes from the high part of x to its low part
  const int64_t* offsets = nullptr;  ///< by tile of terms, in bytes
  const int64_t* x_at = nullptr;     ///< by place, in bytes
  int64_t places = 0;
  bool phases = false;  ///< a map has two rows, for the output at a place's pair of pixels and the one right of it
  bool pooled = false;  ///< an output is the largest (NaN wins) of 4 places or, with phases, of two with two rows each
  bool finite = false;  ///< no sum can be NaN or infinite, with the bias or without
  int64_t outputs = 0;  ///< places, a quarter or half of them pooled, or twice as many, but perhaps one, with phases
  PairsEnd end;
};

void convolve_pairs(Bf16Unit unit, const PairConvolution& job);

/// Some blocks of 16 images, times some rows of weights.
struct PairDense {
  TileWeights w;
  int64_t first_row_tile = 0, end_row_tile = 0;  ///< the first one is even
  const std::byte* x = nullptr;
  int64_t low_at = 0;
  int64_t block_bytes = 0, blocks = 0;
  const int64_t* offsets = nullptr;  ///< by tile of terms, in bytes, the same in each block
  float* sums = nullptr;             ///< [block][row][16], aligned: holds sums meanwhile; end.floats may lie there, too
  PairsEnd end;
};

void multiply_pairs(Bf16Unit unit, const PairDense& job);

/// Pairs from pixels in lanes: pair j of `high`, at j * step bytes, is even[j * float_step + i] and odd[the same],
/// i < 16, as the nearest bfloat16; what they lack becomes pair j of `low`, if it is given. odd may be null: zeros.
void pack_pairs(const float* even, const float* odd, int64_t count, int64_t float_step, std::byte* high, std::byte* low,
                int64_t step);

/// The same from pixels that are bytes, which bfloat16 holds exactly.
void pack_pairs(const uint8_t* even, const uint8_t* odd, int64_t count, int64_t byte_step, std::byte* to, int64_t step);

}  // namespace convlab
