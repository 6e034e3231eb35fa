// Scales, shifts and clamps a block of 8 channels in nchw8c with SIMD vectors.

#include "convlab/kernels/cpu/nchw8c/scaled_block.h"

#include "convlab/kernels/cpu/simd/simd.h"
#include "convlab/tensor/format.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nchw8c/scaled_block.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/nchw8c/clamped-inl.h"
#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

void scale_any_block(const float* x, const float* minus, const float* factor, const float* plus, const Clamp& clamp,
                     int64_t pixels, float* y) {
  const hn::CappedTag<float, 8> d;
  const auto low = hn::Set(d, clamp.low), high = hn::Set(d, clamp.high);
  for (int64_t lane = 0; lane < kChannelLanes; lane += static_cast<int64_t>(hn::Lanes(d))) {
    const auto m = hn::LoadU(d, minus + lane), f = hn::LoadU(d, factor + lane), p = hn::LoadU(d, plus + lane);
    for (int64_t at = lane; at < pixels * kChannelLanes; at += kChannelLanes) {
      hn::StoreU(clamped(hn::MulAdd(hn::Sub(hn::LoadU(d, x + at), m), f, p), low, high), d, y + at);
    }
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(scale_any_block);

}  // namespace

void scale_block(const float* x, const float* minus, const float* factor, const float* plus, const Clamp& clamp,
                 int64_t pixels, float* y) {
  HWY_DYNAMIC_DISPATCH(scale_any_block)(x, minus, factor, plus, clamp, pixels, y);
}

}  // namespace convlab
#endif  // HWY_ONCE
