// Multiplies blocks of 16 images by rows of weights (PairDense in bf16_jobs.h), a range of K at a time.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_BF16_DENSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_BF16_DENSE_INL_H_
#undef CONVLAB_KERNELS_CPU_BF16_DENSE_INL_H_
#else
#define CONVLAB_KERNELS_CPU_BF16_DENSE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_ends-inl.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_jobs.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_products-inl.h"
#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// Cache lines that are needed later, prefetched into L2: at each step, some lines of each source.
struct Ahead {
  const std::byte* from = nullptr;
  int64_t left = 0;     ///< remaining lines of each source
  int64_t at_once = 0;  ///< lines per step and source
  int64_t sources = 1, source_step = 0;

  HWY_INLINE void fetch() {
    for (const int64_t end = std::max<int64_t>(left - at_once, 0); left > end; --left, from += kPairBytes) {
      for (int64_t source = 0; source < sources; ++source) __builtin_prefetch(from + source * source_step, 0, 2);
    }
  }
};

template <class Tiles, int kProducts>
class Dense {
 public:
  Dense(Tiles& tiles, const PairDense& job)
      : tiles_(tiles),
        job_(job),
        tile_floats_(job.w.shape.rows * kRowFloats),
        block_floats_(job.w.row_tiles * tile_floats_),
        finish_(finish_of<1, Sums::any>(job.end)) {}

  void compute() {
    const bool holds_weights = kProducts == 1 && row_pairs() <= kMostHeldPairs;
    const int64_t most_tiles = holds_weights ? 8 : 16;
    for (int64_t first = 0; first < job_.w.term_tiles; first += most_tiles) {
      const Terms now = terms_from(first, most_tiles), next = terms_from(first + most_tiles, most_tiles);
      if (holds_weights) {
        hold_weights(now, next);
      } else {
        hold_images(now);
      }
    }
  }

 private:
  static constexpr int64_t kMostHeldPairs = 8;
  static constexpr int64_t kPlanes = kProducts > 2 ? 2 : 1;  // per image
  static constexpr int64_t kTileLines = kTileBytes / kPairBytes;

  /// A range of tiles along K; empty past the last one.
  struct Terms {
    int64_t first = 0, tiles = 0;
  };
  Terms terms_from(int64_t first, int64_t most) const {
    return {first, std::clamp<int64_t>(job_.w.term_tiles - first, 0, most)};
  }

  int64_t row_pairs() const { return ceil_div(job_.end_row_tile - job_.first_row_tile, 2); }

  /// Multiplies two row tiles by all blocks, then the next two row tiles. Weights stay in L1, images and sums in L2, so
  /// there must not be too many rows. Meanwhile prefetches the next operands from memory at an even rate.
  void hold_weights(Terms now, Terms next) {
    const int64_t share = ceil_div(next.tiles * kTileLines, row_pairs());  // next images' lines per pair of row tiles
    for (int64_t tile = job_.first_row_tile; tile < job_.end_row_tile; tile += 2) {
      if (tile + 2 < job_.end_row_tile) {
        fetch_weights(tile + 2, now, now.tiles);
      } else {
        fetch_weights(job_.first_row_tile, next, now.tiles);
      }
      for (int64_t block = 0; block < job_.blocks; block += 2) {
        fetch_images(block, next, (tile - job_.first_row_tile) / 2 * share, share, now.tiles);
        multiply_blocks(now, block, tile);
      }
    }
  }

  /// Multiplies two blocks by all rows, then the next two blocks: for many rows, or if split images would not fit in
  /// the cache together with the weights. Meanwhile prefetches the next images.
  void hold_images(Terms now) {
    for (int64_t block = 0; block < job_.blocks; block += 2) {
      const bool is_last = block + 2 >= job_.blocks;
      fetch_images(block + 2, is_last ? Terms() : now, 0, now.tiles * kTileLines, row_pairs() * now.tiles);
      for (int64_t tile = job_.first_row_tile; tile < job_.end_row_tile; tile += 2) multiply_blocks(now, block, tile);
    }
  }

  /// Starts prefetching the weights of up to two row tiles, spread over `steps` steps for each two blocks.
  void fetch_weights(int64_t tile, Terms terms, int64_t steps) {
    weights_ahead_ = {};
    if (terms.tiles == 0) return;
    const int64_t rows = std::min<int64_t>(2, job_.w.row_tiles - tile);
    weights_ahead_.from = job_.w.data + job_.w.tile_at(tile, terms.first, 0);
    weights_ahead_.left = rows * job_.w.parts() * terms.tiles * kTileLines;
    weights_ahead_.at_once = ceil_div(weights_ahead_.left, steps * ceil_div(job_.blocks, 2));
  }

  /// Starts prefetching lines [first, first + count) of a range of K of up to two blocks, spread over `steps` steps.
  void fetch_images(int64_t block, Terms terms, int64_t first, int64_t count, int64_t steps) {
    images_ahead_ = {};
    if (terms.tiles == 0) return;
    images_ahead_.from = job_.x + block * job_.block_bytes + job_.offsets[terms.first] + first * kPairBytes;
    images_ahead_.left = count;
    images_ahead_.at_once = ceil_div(count, steps);
    images_ahead_.sources = std::min<int64_t>(2, job_.blocks - block) * kPlanes;
    images_ahead_.source_step = job_.block_bytes / kPlanes;
  }

  /// Multiplies two row tiles, or the last one, by two blocks, or the last one.
  void multiply_blocks(Terms terms, int64_t block, int64_t tile) {
    if (block + 1 < job_.blocks) {
      multiply_some_blocks<2>(terms, block, tile);
    } else {
      multiply_some_blocks<1>(terms, block, tile);
    }
  }

  template <int kN>
  void multiply_some_blocks(Terms terms, int64_t block, int64_t tile) {
    const std::byte* x[kN];
    for (int i = 0; i < kN; ++i) x[i] = job_.x + (block + i) * job_.block_bytes;
    const Operands operands{job_.w.data + job_.w.tile_at(tile, terms.first, 0), job_.offsets + terms.first, terms.tiles,
                            job_.low_at};
    float* const sums = job_.sums + block * block_floats_ + tile * tile_floats_;
    if (tile + 1 < job_.end_row_tile) {
      add_products<2, kN>(operands, x, sums, terms.first > 0);
    } else {
      add_products<1, kN>(operands, x, sums, terms.first > 0);
    }
    if (terms.first + terms.tiles < job_.w.term_tiles) return;
    const int64_t rows = job_.w.shape.rows, begin = tile * rows;
    const int64_t end = std::min({job_.end.maps, begin + 2 * rows, job_.end_row_tile * rows});
    for (int64_t i = 0; i < kN; ++i) {
      finish_(job_.end, begin, end, block + i, {sums + i * block_floats_, kRowFloats});
    }
  }

  template <int kM, int kN>
  HWY_INLINE void add_products(const Operands& operands, const std::byte* const (&x)[kN], float* sums, bool add) {
    const auto meanwhile = [this]() HWY_ATTR __attribute__((always_inline)) {
      weights_ahead_.fetch();
      images_ahead_.fetch();
    };
    if (add) {
      sum_products<Tiles, kProducts, kM, kN, true>(tiles_, operands, x, sums, block_floats_, tile_floats_, meanwhile);
    } else {
      sum_products<Tiles, kProducts, kM, kN, false>(tiles_, operands, x, sums, block_floats_, tile_floats_, meanwhile);
    }
  }

  Tiles& tiles_;
  const PairDense& job_;
  int64_t tile_floats_, block_floats_;
  Ahead weights_ahead_, images_ahead_;
  Finish finish_;
};

template <class Tiles, int kProducts>
void compute_with(const PairDense& job) {
  Tiles tiles(job.w.shape);
  Dense<Tiles, kProducts>(tiles, job).compute();
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
