// Epilogue of sums in nhwc4 uint8: the bias, a fused addition, and quantization.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_BYTES_BYTE_END_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_BYTES_BYTE_END_INL_H_
#undef CONVLAB_KERNELS_CPU_BYTES_BYTE_END_INL_H_
#else
#define CONVLAB_KERNELS_CPU_BYTES_BYTE_END_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "convlab/kernels/cpu/nhwc_int8/byte_sums.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

#if CONVLAB_BYTE_VECTORS

constexpr int64_t kMostMaps = 2 * kVectorSums;  // output channels of a panel: one or two vectors

constexpr int64_t maps_of_panel(int64_t left) { return left > kMostMaps / 2 ? kMostMaps : kMostMaps / 2; }

/// Epilogue for the sums of a panel's output channels. Two pixels are quantized at a time.
class ByteEnd {
 public:
  ByteEnd() = default;
  ByteEnd(const ByteSums& sums, int64_t first_map)
      : maps_(maps_of_panel(sums.maps - first_map)),
        whole_(sums.maps - first_map >= maps_),
        valid_(std::min(maps_, sums.maps - first_map)),
        rule_(sums.added != nullptr ? sums.sum.rule : sums.rule),
        after_(sums.rule, sums.sum),
        y_(sums.y + first_map),
        added_(sums.added != nullptr ? sums.added + first_map : nullptr),
        y_step_(sums.y_step) {
    const int64_t last = first_map + maps_ - kVectorSums;
    start_[0] = load(sums.start + first_map), start_[1] = load(sums.start + last);
    factors_[0] = load_real(sums.factors + first_map), factors_[1] = load_real(sums.factors + last);
  }

  int64_t maps() const { return maps_; }
  bool adds() const { return added_ != nullptr; }
  HWY_INLINE Whole start(int vector) const { return start_[vector]; }

  /// Converts a pixel's sums to 16-bit words, in the order that store() expects.
  template <int kVectors, bool kAdds>
  HWY_INLINE Whole words(const Whole (&sum)[kVectors], int64_t pixel) const {
    Real a = times(real(sum[0]), factors_[0]), b = times(real(sum[kVectors - 1]), factors_[kVectors - 1]);
    if constexpr (kAdds) {
      Whole added[2];
      load_added<kVectors>(added_ + pixel * y_step_, added);
      a = after_.sum(a, added[0]);
      b = after_.sum(b, added[1]);
    }
    return rule_.words(a, b);
  }

  /// Quantizes and stores two pixels, which may be the same one.
  template <int kVectors>
  HWY_INLINE void store(Whole words_a, int64_t pixel_a, Whole words_b, int64_t pixel_b) const {
    const Whole levels = rule_.levels(words_a, words_b);
    uint8_t *const to_a = y_ + pixel_a * y_step_, *const to_b = y_ + pixel_b * y_step_;
    if constexpr (kVectors == 1) {
      whole_ ? store_two_halves(levels, to_a, to_b) : valid_.store_two_halves(levels, to_a, to_b);
    } else {
      whole_ ? store_two(levels, to_a, to_b) : valid_.store_two(levels, to_a, to_b);
    }
  }

 private:
  /// Loads what is added to a pixel's output channels, in the order of their indices in the panel.
  template <int kVectors>
  HWY_INLINE void load_added(const uint8_t* from, Whole (&added)[2]) const {
    if constexpr (kVectors == 1) {
      added[0] = added[1] = whole_ ? load_as_sums(from) : valid_.load_as_sums(from);
    } else {
      const Whole words = whole_ ? load_as_words(from) : valid_.load_as_words(from);
      added[0] = low_words(words, zeros());
      added[1] = high_words(words, zeros());
    }
  }

  int64_t maps_ = 0;
  bool whole_ = true;  ///< all output channels of the panel exist
  FirstBytes valid_{0};
  Rule rule_{LevelRule()};
  SumAfter after_{LevelRule(), ByteSum()};
  uint8_t* y_ = nullptr;
  const uint8_t* added_ = nullptr;
  int64_t y_step_ = 0;
  Whole start_[2];  ///< of the panel's first and last vector
  Real factors_[2];
};

#endif

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
