// Some blocks of 16 images times some rows of weights (PairDense in cpu_bf16_sums.h), some tiles of terms at a time.
//
// Included once for each instruction set, after convlab/kernels/cpu_simd.h and hwy/foreach_target.h; hence no #pragma
// once.

#if defined(CONVLAB_KERNELS_CPU_BF16_DENSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_BF16_DENSE_INL_H_
#undef CONVLAB_KERNELS_CPU_BF16_DENSE_INL_H_
#else
#define CONVLAB_KERNELS_CPU_BF16_DENSE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "convlab/kernels/cpu_bf16_ends-inl.h"
#include "convlab/kernels/cpu_bf16_products-inl.h"
#include "convlab/kernels/cpu_bf16_sums.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

constexpr int64_t kDenseTiles = 16;  // tiles of terms at a time: those of two blocks of images stay in the first cache

template <class Tiles, int kProducts>
class Dense {
 public:
  Dense(Tiles& tiles, const PairDense& job)
      : tiles_(tiles),
        job_(job),
        tile_floats_(job.w.shape.rows * kRowFloats),
        block_floats_(job.w.row_tiles * tile_floats_) {}

  void compute() {
    for (int64_t first = 0; first < job_.w.term_tiles; first += kDenseTiles) {
      const int64_t tiles = std::min(kDenseTiles, job_.w.term_tiles - first);
      for (int64_t block = 0; block < job_.blocks; block += 2) {
        if (block + 1 < job_.blocks) {
          multiply_blocks<2>(block, first, tiles);
        } else {
          multiply_blocks<1>(block, first, tiles);
        }
      }
    }
  }

 private:
  template <int kN>
  void multiply_blocks(int64_t block, int64_t first, int64_t tiles) {
    const std::byte* x[kN];
    for (int i = 0; i < kN; ++i) x[i] = job_.x + (block + i) * job_.block_bytes;
    // The next blocks' images come from afar: while two tiles of rows are computed, one of these is fetched.
    const int64_t parts = kProducts > 2 ? 2 : 1;
    int64_t fetched = block + kN < job_.blocks ? 0 : kN * parts;
    for (int64_t tile = job_.first_row_tile; tile < job_.end_row_tile; tile += 2, ++fetched) {
      Operands operands{job_.w.data + job_.w.tile_at(tile, first, 0), job_.offsets + first, tiles, job_.low_at};
      if (fetched < kN * parts) {
        operands.ahead = job_.x + (block + kN + fetched / parts) * job_.block_bytes + fetched % parts * job_.low_at +
                         job_.offsets[first];
        operands.ahead_lines = kTileBytes / kPairBytes;
      }
      float* sums = job_.sums + block * block_floats_ + tile * tile_floats_;
      if (tile + 1 < job_.end_row_tile) {
        add_products<2, kN>(operands, x, sums, first > 0);
      } else {
        add_products<1, kN>(operands, x, sums, first > 0);
      }
    }
    if (first + tiles < job_.w.term_tiles) return;
    const int64_t rows = job_.w.shape.rows, begin = job_.first_row_tile * rows;
    const int64_t end = std::min(job_.end.maps, job_.end_row_tile * rows);
    for (int64_t i = block; i < block + kN; ++i) {
      finish<1>(job_.end, begin, end, i, job_.sums + i * block_floats_ + begin * kRowFloats, kRowFloats, {0, 0, 0, 0});
    }
  }

  template <int kM, int kN>
  void add_products(const Operands& operands, const std::byte* const (&x)[kN], float* sums, bool add) {
    if (add) {
      sum_products<Tiles, kProducts, kM, kN, true>(tiles_, operands, x, sums, block_floats_, tile_floats_);
    } else {
      sum_products<Tiles, kProducts, kM, kN, false>(tiles_, operands, x, sums, block_floats_, tile_floats_);
    }
  }

  Tiles& tiles_;
  const PairDense& job_;
  int64_t tile_floats_, block_floats_;
};

template <class Tiles, int kProducts>
void compute_with(const PairDense& job) {
  Tiles tiles(job.w.shape);
  Dense<Tiles, kProducts>(tiles, job).compute();
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
