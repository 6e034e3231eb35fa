// Epilogue of sums in bf16 nhwc bfloat16: bias, addition, activation, and rounding to bf16.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_HALVES_HALF_END_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_HALVES_HALF_END_INL_H_
#undef CONVLAB_KERNELS_CPU_HALVES_HALF_END_INL_H_
#else
#define CONVLAB_KERNELS_CPU_HALVES_HALF_END_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "convlab/kernels/cpu/nchw8c/channels.h"
#include "convlab/kernels/cpu/nchw8c/clamped-inl.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_sums.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_vectors-inl.h"
#include "convlab/kernels/cpu/simd/map_panels.h"
#include "convlab/kernels/cpu/simd/math-inl.h"
#include "convlab/kernels/cpu/simd/tile_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using Maps = hn::CappedTag<float, 16>;
using Sum = hn::Vec<Maps>;

/// Epilogues: clamp and swish run in registers on full vectors; any handles all other cases.
enum class Ending { clamp, swish, any };

/// Epilogue of the output channels of a panel. kConverts: rounds with the AVX512-BF16 instruction.
template <bool kConverts>
class PanelEnd {
 public:
  static constexpr int64_t kTogether = 1;  // positions finished together
  PanelEnd() = default;
  PanelEnd(const HalfSums& sums, int64_t first)
      : activation_(sums.activation),
        clamp_(clamp_of(sums.activation).value_or(Clamp{})),
        maps_(std::min(kPanelMaps, sums.maps - first)),
        added_(sums.added != nullptr ? sums.added + first : nullptr),
        added_step_(sums.added_step),
        y_(sums.y + first),
        y_step_(sums.y_step) {
    std::fill_n(bias_, kPanelMaps, 0.0f);
    if (sums.bias != nullptr) std::copy_n(sums.bias + first, maps_, bias_);
    if (maps_ % 16 != 0) return;
    if (clamp_of(sums.activation)) ending_ = Ending::clamp;
    if (sums.activation.kind == ActivationKind::swish) ending_ = Ending::swish;
  }

  Ending ending() const { return ending_; }

  /// Holds in registers what the clamp and swish epilogues of a vector of output channels need; `map` is its first
  /// channel in the panel. These are copies because the compiler must assume that a store may alias the PanelEnd.
  class Column {
   public:
    HWY_INLINE Column(const PanelEnd& end, int64_t map)
        : bias_(hn::Load(Maps(), end.bias_ + map)),
          low_(hn::Set(Maps(), end.clamp_.low)),
          high_(hn::Set(Maps(), end.clamp_.high)),
          added_(end.added_ != nullptr ? end.added_ + map : nullptr),
          added_step_(end.added_step_),
          y_(end.y_ + map),
          y_step_(end.y_step_) {}

    template <Ending kEnding>
    HWY_INLINE void finish(Sum sum, int64_t pixel) const {
      sum = hn::Add(sum, bias_);
      if (added_ != nullptr) sum = hn::Add(sum, load_halves(Maps(), added_ + pixel * added_step_));
      sum = kEnding == Ending::clamp ? clamped(sum, low_, high_) : swish_of_half(Maps(), sum);
      store(sum, y_ + pixel * y_step_);
    }

   private:
    Sum bias_, low_, high_;
    const uint16_t* added_;
    int64_t added_step_;
    uint16_t* y_;
    int64_t y_step_;
  };

  /// Finishes all output channels of `count` positions.
  HWY_INLINE void finish_places(const PlaceSums<float>& sums, const int32_t* y_at, int64_t count) const {
#if HWY_TARGET == HWY_AVX3
    if (kConverts && ending_ == Ending::clamp && maps_ == kPanelMaps) {
      return added_ != nullptr ? finish_panel<true>(sums, y_at, count) : finish_panel<false>(sums, y_at, count);
    }
#endif
    if (ending_ == Ending::any) return finish_any(sums, y_at, count);
    const bool swish = ending_ == Ending::swish;
    const auto lanes = static_cast<int64_t>(hn::Lanes(Maps()));
    for (int64_t map = 0; map < maps_; map += lanes) {
      const float* from = sums.first + map / 16 * sums.tile_step + map % 16;
      const Column column(*this, map);
      for (int64_t i = 0; i < count; ++i, from += sums.place_step) {
        if (y_at[i] < 0) continue;
        const Sum sum = hn::Load(Maps(), from);
        swish ? column.template finish<Ending::swish>(sum, y_at[i])
              : column.template finish<Ending::clamp>(sum, y_at[i]);
      }
    }
  }

  /// Same for any epilogue. Not inlined: it is long, and there are many sizes of tile.
  HWY_NOINLINE void finish_any(const PlaceSums<float>& sums, const int32_t* y_at, int64_t count) const {
    switch (activation_.kind) {
      case ActivationKind::none:
        return finish_kind<ActivationKind::none>(sums, y_at, count);
      case ActivationKind::relu:
        return finish_kind<ActivationKind::relu>(sums, y_at, count);
      case ActivationKind::leaky_relu:
        return finish_kind<ActivationKind::leaky_relu>(sums, y_at, count);
      case ActivationKind::clip:
        return finish_kind<ActivationKind::clip>(sums, y_at, count);
      case ActivationKind::sigmoid:
        return finish_kind<ActivationKind::sigmoid>(sums, y_at, count);
      case ActivationKind::tanh:
        return finish_kind<ActivationKind::tanh>(sums, y_at, count);
      case ActivationKind::swish:
        return finish_kind<ActivationKind::swish>(sums, y_at, count);
      case ActivationKind::hard_swish:
        return finish_kind<ActivationKind::hard_swish>(sums, y_at, count);
    }
  }

 private:
#if HWY_TARGET == HWY_AVX3
  /// Same for a full panel: finishes both vectors of a position together.
  template <bool kAdds>
  HWY_INLINE void finish_panel(const PlaceSums<float>& sums, const int32_t* y_at, int64_t count) const {
    const Maps d;
    const Sum bias_0 = hn::Load(d, bias_), bias_1 = hn::Load(d, bias_ + 16);
    const Sum low = hn::Set(d, clamp_.low), high = hn::Set(d, clamp_.high);
    const float* from = sums.first;
    for (int64_t i = 0; i < count; ++i, from += sums.place_step) {
      const int64_t pixel = y_at[i];
      if (pixel < 0) continue;
      Sum sum_0 = hn::Add(bias_0, hn::Load(d, from)), sum_1 = hn::Add(bias_1, hn::Load(d, from + sums.tile_step));
      if constexpr (kAdds) {
        const uint16_t* const added = added_ + pixel * added_step_;
        sum_0 = hn::Add(sum_0, load_halves(d, added));
        sum_1 = hn::Add(sum_1, load_halves(d, added + 16));
      }
      convert_and_store(clamped(sum_0, low, high).raw, clamped(sum_1, low, high).raw, y_ + pixel * y_step_);
    }
  }
#endif

  /// The activation kind is a template parameter, so that the loop does not branch on it.
  template <ActivationKind kKind>
  HWY_INLINE void finish_kind(const PlaceSums<float>& sums, const int32_t* y_at, int64_t count) const {
    const Activation known{kKind, activation_.alpha, activation_.beta};
    for (int64_t i = 0; i < count; ++i) {
      const int64_t pixel = y_at[i];
      if (pixel < 0) continue;
      const float* from = sums.first + i * sums.place_step;
      for (int64_t map = 0; map < maps_; map += 16, from += sums.tile_step) {
        const uint16_t* const added = added_ != nullptr ? added_ + pixel * added_step_ + map : nullptr;
        uint16_t* const y = y_ + pixel * y_step_ + map;
        if (map + 16 <= maps_) {
          finish_tile(known, from, map, added, y);
          continue;
        }
        const auto bytes = static_cast<size_t>(maps_ - map) * 2;
        HWY_ALIGN uint16_t some[16] = {};
        if (added != nullptr) std::memcpy(some, added, bytes);
        finish_tile(known, from, map, added != nullptr ? some : nullptr, some);
        std::memcpy(y, some, bytes);
      }
    }
  }

  /// Finishes the output channels of one tile at one position.
  HWY_INLINE void finish_tile(const Activation& known, const float* from, int64_t map, const uint16_t* added,
                              uint16_t* y) const {
    const Maps d;
    for (int64_t i = 0; i < 16; i += static_cast<int64_t>(hn::Lanes(d))) {
      Sum sum = hn::Add(hn::Load(d, from + i), hn::Load(d, bias_ + map + i));
      if (added != nullptr) sum = hn::Add(sum, load_halves(d, added + i));
      store(activated(d, known, sum), y + i);
    }
  }

  static HWY_INLINE void store(Sum sum, uint16_t* to) { round_and_store<kConverts>(Maps(), sum, to); }

  HWY_ALIGN float bias_[kPanelMaps];
  Ending ending_ = Ending::any;
  Activation activation_;
  Clamp clamp_;
  int64_t maps_ = 0;  ///< existing output channels, padding excluded
  const uint16_t* added_ = nullptr;
  int64_t added_step_ = 0;
  uint16_t* y_ = nullptr;
  int64_t y_step_ = 0;
};

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
