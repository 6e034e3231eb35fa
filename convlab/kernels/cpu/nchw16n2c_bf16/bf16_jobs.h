#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/conv/epilogue.h"
#include "convlab/kernels/cpu/simd/matrix_tiles.h"

namespace convlab {

// GEMMs with bf16 operands, fp32 sums and 16 images in the lanes: the core of convolutions and dense layers in
// nchw16n2c (`nchw16n2c`) and nchw16n2c bf16x2 (the same twice: high and low parts).
//
// Both layouts let operands be multiplied in place. A "pair" is 64 bytes, one cache line: a bf16x2 of two neighboring
// channels (or pixels) for each of 16 images, which is a row of a tile B (see bf16_tiles-inl.h). Neighboring pairs are
// neighbors along the K dimension: channels of a pixel, then pixels of a row. So up to 16 pairs are a tile B in place,
// 1 KiB of contiguous memory, without a copy or an idle lane. A tile A holds the weights of up to 16 rows (output
// channels, or neurons) for this range of K. C has a row per output channel, 16 images wide, as pooling, activations
// and the next layer's layout need it:
//
//                    K            images                       images
//   out channels [ A ]  x  K [ B at one pixel ] =  out channels [ C at that pixel ]
//
// Two tiles A times two tiles B (pixels, or blocks of images) fill four tiles C: four loads for four multiplications.
// While the products of one step are in flight, the previous step is pooled, activated and stored from memory.

inline constexpr int64_t kPairBytes = 64;

/// How many bf16 products replace one fp32 product. one: plain bf16. two: weights split in two parts, w = high + low,
/// times x that is exact in bf16. three: both operands split, low * low omitted.
enum class Products { one = 1, two = 2, three = 3 };

/// Packed weights: [two row tiles][tile along K][part (low, high, or the only one)][row tile of the two].
struct TileWeights {
  const std::byte* data = nullptr;
  int64_t row_tiles = 0, term_tiles = 0;
  TileShape shape;
  Products products = Products::one;

  int64_t parts() const { return products == Products::one ? 1 : 2; }
  int64_t bytes() const { return row_tiles * term_tiles * parts() * kTileBytes; }
  /// Byte offset of a tile: for a row tile and a tile along K, of the low part (0) or the high part (parts() - 1).
  int64_t tile_at(int64_t row_tile, int64_t term_tile, int64_t part) const {
    const int64_t two = row_tile / 2 * 2, together = row_tiles - two >= 2 ? 2 : 1;
    return (two * term_tiles * parts() + (term_tile * parts() + part) * together + row_tile - two) * kTileBytes;
  }
};

/// Epilogue: bias, activation, and destination. Outputs are positions, or blocks of 16 images.
struct PairsEnd {
  int64_t maps = 0;
  const float* bias = nullptr;  ///< per output channel; NaN must be quiet: see quiet_bias()
  Activation activation;
  std::byte* pairs = nullptr;             ///< if set: ceil(maps / 2) pairs per output; an odd last one is padded with 0
  int64_t pairs_step = 0;                 ///< bytes from output to output
  int64_t low_at = 0;                     ///< bytes from the high part to the low part; 0: no low part
  float* floats = nullptr;                ///< otherwise: 16 floats per output and channel
  int64_t floats_step = 0, map_step = 0;  ///< floats from output to output, and from channel to channel
};

/// Some outputs of a convolution, for all output channels. A position (`place`) is where a tile B begins.
struct PairConvolution {
  TileWeights w;
  const std::byte* x = nullptr;
  int64_t low_at = 0;                ///< bytes from the high part of x to its low part
  const int64_t* offsets = nullptr;  ///< per tile along K, in bytes
  const int64_t* x_at = nullptr;     ///< per position, in bytes
  int64_t places = 0;
  bool phases = false;  ///< a channel has two rows: output at a position's pair of pixels, and the next on the right
  bool pooled = false;  ///< an output is the maximum (NaN wins) of 4 positions or, with phases, of 2 with 2 rows each
  bool finite = false;  ///< no sum can be NaN or infinite, with or without the bias
  int64_t outputs = 0;  ///< places; pooled: 1/4, with phases 1/2; not pooled, with phases: 2 * places, or one fewer
  PairsEnd end;
};

/// Some blocks of 16 images, times some rows of weights.
struct PairDense {
  TileWeights w;
  int64_t first_row_tile = 0, end_row_tile = 0;  ///< the first one is even
  const std::byte* x = nullptr;
  int64_t low_at = 0;
  int64_t block_bytes = 0, blocks = 0;
  const int64_t* offsets = nullptr;  ///< per tile along K, in bytes, the same in each block
  float* sums = nullptr;             ///< [block][row][16], aligned: partial sums; end.floats may be the same memory
  PairsEnd end;
};

}  // namespace convlab
