// Depthwise convolution of a band of output rows in bf16 nhwc.

#include "convlab/kernels/cpu/nhwc_bf16/half_depthwise.h"

#include "convlab/kernels/cpu/simd/bf16_tiles.h"
#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nhwc_bf16/half_depthwise.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/nchw8c/depthwise-inl.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
/// For processors without the instruction. Not inlined, or every tile would contain a copy for each of its pixels.
HWY_NOINLINE void store_whole(hn::Vec<hn::FixedTag<float, 16>> value, uint16_t* to) {
  store_halves(hn::FixedTag<float, 16>(), value, to);
}
#endif

/// Channels of a bf16 pixel, up to 16 per vector.
struct InHalves {
  bool converts;  ///< with the AVX512-BF16 instruction

  using Element = uint16_t;
  static constexpr int64_t kStep = 0;

  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const uint16_t* from) {
    return load_halves(d, from);
  }
  template <class D>
  HWY_INLINE void store(D d, hn::Vec<D> value, uint16_t* to) const {
#if HWY_TARGET == HWY_AVX3
    if constexpr (hn::MaxLanes(D()) == 16) {
      if (!converts) return store_whole(value, to);
    }
#endif
    round_and_store<true>(d, value, to);
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> swish(D d, hn::Vec<D> x) {
    return swish_of_half(d, x);
  }
  template <class Compute>
  static HWY_INLINE void for_channels(int64_t channels, const Compute& compute) {
    HWY_NAMESPACE::for_channels(channels, compute);
  }
};

void band_in_halves(const DepthwiseBand<uint16_t>& band) {
  any_band(band, InHalves{.converts = has_unit(Bf16Unit::avx512_bf16)});
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(band_in_halves);

}  // namespace

void compute_band(const DepthwiseBand<uint16_t>& band) { HWY_DYNAMIC_DISPATCH(band_in_halves)(band); }

}  // namespace convlab
#endif  // HWY_ONCE
