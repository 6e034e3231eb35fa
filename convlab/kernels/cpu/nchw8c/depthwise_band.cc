// Depthwise convolution of some output rows in nchw8c.

#include "convlab/kernels/cpu/nchw8c/depthwise_band.h"

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/simd/by_count.h"
#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nchw8c/depthwise_band.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/nchw8c/depthwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// Blocks of 8 floats; a vector holds all or some of a block.
struct InLanes {
  using Element = float;
  static constexpr int64_t kStep = kChannelLanes;

  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const float* from) {
    return hn::LoadU(d, from);
  }
  template <class D>
  HWY_INLINE void store(D d, hn::Vec<D> value, float* to) const {
    hn::StoreU(value, d, to);
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> swish(D d, hn::Vec<D> x) {
    return sigmoid_of(d, x, x);
  }
  template <class Compute>
  static HWY_INLINE void for_channels(int64_t, const Compute& compute) {
    const hn::CappedTag<float, kChannelLanes> d;
    for (int64_t c = 0; c < kChannelLanes; c += static_cast<int64_t>(hn::Lanes(d))) compute(d, c);
  }
};

void band_in_lanes(const DepthwiseBand<float>& band) { any_band(band, InLanes()); }

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(band_in_lanes);

}  // namespace

void compute_band(const DepthwiseBand<float>& band) { HWY_DYNAMIC_DISPATCH(band_in_lanes)(band); }

}  // namespace convlab
#endif  // HWY_ONCE
