// Scales and shifts the channels of bf16 nhwc pixels.

#include "convlab/kernels/cpu/nhwc_bf16/half_scale.h"

#include "convlab/kernels/cpu/simd/bf16_tiles.h"
#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nhwc_bf16/half_scale.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/nchw8c/clamped-inl.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// Scales kPixels pixels, loading a channel's parameters once. kConverts: rounds with the AVX512-BF16 instruction.
template <bool kConverts, int kPixels>
HWY_INLINE void scale_some(const HalfScale& scale, const uint16_t* x, uint16_t* y) {
  for_channels(scale.channels, [&](auto d, int64_t c) HWY_ATTR {
    const auto low = hn::Set(d, scale.clamp.low), high = hn::Set(d, scale.clamp.high);
    const auto minus = hn::LoadU(d, scale.minus + c), factor = hn::LoadU(d, scale.factor + c);
    const auto plus = hn::LoadU(d, scale.plus + c);
#pragma GCC unroll 4
    for (int i = 0; i < kPixels; ++i) {
      const auto result = hn::MulAdd(hn::Sub(load_halves(d, x + i * scale.x_step + c), minus), factor, plus);
      round_and_store<kConverts>(d, clamped(result, low, high), y + i * scale.y_step + c);
    }
  });
}

template <bool kConverts>
void scale_all(const HalfScale& scale) {
  constexpr int kPixels = 4;
  const uint16_t* x = scale.x;
  uint16_t* y = scale.y;
  int64_t i = 0;
  for (; i + kPixels <= scale.pixels; i += kPixels, x += kPixels * scale.x_step, y += kPixels * scale.y_step) {
    scale_some<kConverts, kPixels>(scale, x, y);
  }
  for (; i < scale.pixels; ++i, x += scale.x_step, y += scale.y_step) scale_some<kConverts, 1>(scale, x, y);
}

void scale_any_pixels(const HalfScale& scale) {
#if HWY_TARGET == HWY_AVX3
  if (has_unit(Bf16Unit::avx512_bf16)) return scale_all<true>(scale);
#endif
  scale_all<false>(scale);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(scale_any_pixels);

}  // namespace

void scale_pixels(const HalfScale& scale) { HWY_DYNAMIC_DISPATCH(scale_any_pixels)(scale); }

}  // namespace convlab
#endif  // HWY_ONCE
