// Loads and stores of output channels in nchw8c, for any vector length.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_CHANNELS_MAPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_CHANNELS_MAPS_INL_H_
#undef CONVLAB_KERNELS_CPU_CHANNELS_MAPS_INL_H_
#else
#define CONVLAB_KERNELS_CPU_CHANNELS_MAPS_INL_H_
#endif

#include "convlab/kernels/cpu/nchw8c/channels.h"
#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// One pixel of up to 16 adjacent output channels: a vector of 16 spans two blocks.
template <class D>
HWY_INLINE hn::Vec<D> load_maps(D d, const float* from, [[maybe_unused]] int64_t block_step) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (hn::MaxLanes(D()) > kChannelLanes) {
    const hn::Half<D> half;
    return hn::Combine(d, hn::LoadU(half, from + block_step), hn::LoadU(half, from));
  }
#endif
  return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE void store_maps(hn::Vec<D> maps, D d, float* to, [[maybe_unused]] int64_t block_step) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (hn::MaxLanes(D()) > kChannelLanes) {
    const hn::Half<D> half;
    hn::StoreU(hn::LowerHalf(half, maps), half, to);
    hn::StoreU(hn::UpperHalf(half, maps), half, to + block_step);
    return;
  }
#endif
  hn::StoreU(maps, d, to);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
