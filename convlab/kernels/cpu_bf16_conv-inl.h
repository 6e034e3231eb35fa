// Some outputs of a convolution (PairConvolution in cpu_bf16_sums.h): while one step's products are on their way, the
// one before is finished from memory.
//
// Included once for each instruction set, after convlab/kernels/cpu_simd.h and hwy/foreach_target.h; hence no #pragma
// once.

#if defined(CONVLAB_KERNELS_CPU_BF16_CONV_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_BF16_CONV_INL_H_
#undef CONVLAB_KERNELS_CPU_BF16_CONV_INL_H_
#else
#define CONVLAB_KERNELS_CPU_BF16_CONV_INL_H_
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

constexpr int64_t kMostPlaces = 4;  // of a step
constexpr int64_t kStepFloats = kMostPlaces * 2 * kTileBytes / 4;

/// Two tiles of rows, or the last one, at all places, a step of some places after the other.
template <class Tiles, int kProducts, int kM>
class RowsOfConvolution {
 public:
  RowsOfConvolution(Tiles& tiles, const PairConvolution& job, int64_t row_tile)
      : tiles_(tiles),
        job_(job),
        operands_{job.w.data + job.w.tile_at(row_tile, 0, 0), job.offsets, job.w.term_tiles, job.low_at},
        tile_floats_(job.w.shape.rows * kRowFloats),
        first_(row_tile * job.w.shape.rows / (job.phases ? 2 : 1)),
        last_(std::min(job.end.maps, first_ + kM * job.w.shape.rows / (job.phases ? 2 : 1))),
        places_(job.pooled && !job.phases ? 4 : 2) {}

  void compute() {
    HWY_ALIGN float sums[2][kStepFloats];
    const int64_t steps = (job_.places + places_ - 1) / places_;
    if (kProducts == 1 && operands_.term_tiles == 1) {
      load_weights<kM>(tiles_, operands_.w);
      return compute_steps<kProducts == 1>(steps, sums);
    }
    compute_steps<false>(steps, sums);
  }

 private:
  template <bool kHeld>
  HWY_INLINE void compute_steps(int64_t steps, float (&sums)[2][kStepFloats]) {
    for (int64_t step = 0; step <= steps; ++step) {
      if (step < steps) multiply_step<kHeld>(step, sums[step % 2]);
      if (step > 0) finish_step(step - 1, sums[(step - 1) % 2]);
    }
  }

  template <bool kHeld>
  HWY_INLINE void multiply_step(int64_t step, float* sums) {
    const int64_t end = std::min(job_.places, (step + 1) * places_);
    for (int64_t place = step * places_; place < end; place += 2, sums += 2 * kM * tile_floats_) {
      if (place + 1 < end) {
        const std::byte* const x[2] = {job_.x + job_.x_at[place], job_.x + job_.x_at[place + 1]};
        sum_products<Tiles, kProducts, kM, 2, false, kHeld>(tiles_, operands_, x, sums, kM * tile_floats_,
                                                            tile_floats_);
      } else {
        const std::byte* const x[1] = {job_.x + job_.x_at[place]};
        sum_products<Tiles, kProducts, kM, 1, false, kHeld>(tiles_, operands_, x, sums, kM * tile_floats_,
                                                            tile_floats_);
      }
    }
  }

  void finish_step(int64_t step, const float* sums) {
    const int64_t place_step = kM * tile_floats_, row = kRowFloats;
    const int64_t rows_step = job_.phases ? 2 * row : row;
    if (job_.pooled) {
      const int64_t right = job_.phases ? row : place_step, below = job_.phases ? place_step : 2 * place_step;
      finish<4>(job_.end, first_, last_, step, sums, rows_step, {0, right, below, below + right});
      return;
    }
    const int64_t end = std::min(job_.places, (step + 1) * places_);
    for (int64_t place = step * places_; place < end; ++place, sums += place_step) {
      const int64_t each = job_.phases ? 2 : 1;
      for (int64_t i = 0; i < each && place * each + i < job_.outputs; ++i) {
        finish<1>(job_.end, first_, last_, place * each + i, sums, rows_step, {i * row, 0, 0, 0});
      }
    }
  }

  Tiles& tiles_;
  const PairConvolution& job_;
  Operands operands_;
  int64_t tile_floats_;
  int64_t first_, last_;  ///< maps
  int64_t places_;        ///< of a step
};

template <class Tiles, int kProducts>
void compute_with(const PairConvolution& job) {
  Tiles tiles(job.w.shape);
  for (int64_t tile = 0; tile < job.w.row_tiles; tile += 2) {
    if (tile + 1 < job.w.row_tiles) {
      RowsOfConvolution<Tiles, kProducts, 2>(tiles, job, tile).compute();
    } else {
      RowsOfConvolution<Tiles, kProducts, 1>(tiles, job, tile).compute();
    }
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
