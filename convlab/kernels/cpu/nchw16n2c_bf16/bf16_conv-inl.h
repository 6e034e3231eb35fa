// Computes some outputs of a convolution (PairConvolution in bf16_jobs.h). While the products of one step are in
// flight, the previous step is finished from memory, a little between every two tiles.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_BF16_CONV_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_BF16_CONV_INL_H_
#undef CONVLAB_KERNELS_CPU_BF16_CONV_INL_H_
#else
#define CONVLAB_KERNELS_CPU_BF16_CONV_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_ends-inl.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_jobs.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_products-inl.h"
#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

constexpr int64_t kMostPlaces = 4;  // positions per step
constexpr int64_t kStepFloats = kMostPlaces * 2 * kTileBytes / 4;

/// Computes two row tiles, or the last one, at all positions, a few positions per step. `Ending`, a class of
/// bf16_ends-inl.h, finishes outputs incrementally.
template <class Tiles, int kProducts, int kM, class Ending>
class RowsOfConvolution {
 public:
  /// `sums` is scratch for the sums of the current step and of the previous one.
  RowsOfConvolution(Tiles& tiles, const PairConvolution& job, int64_t row_tile, float (&sums)[2][kStepFloats])
      : tiles_(tiles),
        job_(job),
        sums_(sums),
        operands_{job.w.data + job.w.tile_at(row_tile, 0, 0), job.offsets, job.w.term_tiles, job.low_at},
        tile_floats_(job.w.shape.rows * kRowFloats),
        places_(job.pooled && !job.phases ? 4 : 2),
        ending_(job.end, job.pooled, job.finite, first_map(row_tile), first_map(row_tile + kM), layout()) {}

  HWY_INLINE void compute() {
    if constexpr (kProducts == 1 && !Tiles::kIsForChecks) {
      if (operands_.term_tiles == 1) {
        load_weights<kM>(tiles_, operands_.w);
        return compute_steps<true>();
      }
    }
    compute_steps<false>();
  }

 private:
  int64_t first_map(int64_t row_tile) const {
    return std::min(job_.end.maps, row_tile * job_.w.shape.rows / (job_.phases ? 2 : 1));
  }

  int64_t place_step() const { return kM * tile_floats_; }

  OutputSums layout() const {
    if (job_.phases) return {.map_step = 2 * kRowFloats, .right = kRowFloats, .below = place_step()};
    return {.map_step = kRowFloats, .right = place_step(), .below = 2 * place_step()};
  }

  template <bool kHeld>
  HWY_INLINE void compute_steps() {
    const int64_t steps = (job_.places + places_ - 1) / places_;
    for (int64_t step = 0; step < steps; ++step) {
      multiply_step<kHeld>(step);
      while (end_some()) continue;
      step_sums_ = sums_[step % 2];
      const int64_t each = job_.phases ? 2 : 1;  // outputs per position
      output_ = job_.pooled ? step : step * places_ * each;
      output_end_ = job_.pooled ? step + 1 : std::min(job_.outputs, output_ + places_ * each);
    }
    while (end_some()) continue;
  }

  template <bool kHeld>
  HWY_INLINE void multiply_step(int64_t step) {
    float* sums = sums_[step % 2];
    const int64_t end = std::min(job_.places, (step + 1) * places_);
    const auto meanwhile = [this]() HWY_ATTR __attribute__((always_inline)) { end_some(); };
    for (int64_t place = step * places_; place < end; place += 2, sums += 2 * place_step()) {
      if (place + 1 < end) {
        const std::byte* const x[2] = {job_.x + job_.x_at[place], job_.x + job_.x_at[place + 1]};
        sum_products<Tiles, kProducts, kM, 2, false, kHeld>(tiles_, operands_, x, sums, place_step(), tile_floats_,
                                                            meanwhile);
      } else {
        const std::byte* const x[1] = {job_.x + job_.x_at[place]};
        sum_products<Tiles, kProducts, kM, 1, false, kHeld>(tiles_, operands_, x, sums, place_step(), tile_floats_,
                                                            meanwhile);
      }
    }
  }

  /// Finishes some more of the previous step; returns false if nothing of it is left.
  HWY_INLINE bool end_some() {
    if (!ending_.has_more()) {
      if (output_ == output_end_) return false;
      ending_.begin(output_, output_sums());
      ++output_;
    }
    ending_.end_some();
    return true;
  }

  /// Returns the address of the sums of output_.
  HWY_INLINE const float* output_sums() const {
    if (job_.pooled) return step_sums_;
    if (!job_.phases) return step_sums_ + output_ % places_ * place_step();
    return step_sums_ + output_ / 2 % places_ * place_step() + output_ % 2 * kRowFloats;
  }

  Tiles& tiles_;
  const PairConvolution& job_;
  float (&sums_)[2][kStepFloats];
  Operands operands_;
  int64_t tile_floats_;
  int64_t places_;  ///< per step
  Ending ending_;
  const float* step_sums_ = nullptr;     ///< of the previous step
  int64_t output_ = 0, output_end_ = 0;  ///< its remaining outputs
};

template <class Tiles, int kProducts, class Ending>
void compute_and_end(const PairConvolution& job) {
  Tiles tiles(job.w.shape);
  HWY_ALIGN float sums[2][kStepFloats];
  for (int64_t tile = 0; tile < job.w.row_tiles; tile += 2) {
    if (tile + 1 < job.w.row_tiles) {
      RowsOfConvolution<Tiles, kProducts, 2, Ending>(tiles, job, tile, sums).compute();
    } else {
      RowsOfConvolution<Tiles, kProducts, 1, Ending>(tiles, job, tile, sums).compute();
    }
  }
}

template <class Tiles, int kProducts>
void compute_with(const PairConvolution& job) {
  if constexpr (kProducts < 3 && !Tiles::kIsForChecks) {  // uint8 or bf16 pixels
    constexpr bool kSplit = kProducts > 1;
    using Ending = EndingOfPooledTanh<kSplit ? End::tanh : End::short_tanh, kSplit>;
    if (Ending::ends(job)) return compute_and_end<Tiles, kProducts, Ending>(job);
  }
  compute_and_end<Tiles, kProducts, EndingOfAny>(job);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
