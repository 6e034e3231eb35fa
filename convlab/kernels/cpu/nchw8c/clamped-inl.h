// The clamp in registers that implements many activations. Included once for each instruction set, after
// convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no #pragma once.

#if defined(CONVLAB_KERNELS_CPU_CHANNELS_CLAMPED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_CHANNELS_CLAMPED_INL_H_
#undef CONVLAB_KERNELS_CPU_CHANNELS_CLAMPED_INL_H_
#else
#define CONVLAB_KERNELS_CPU_CHANNELS_CLAMPED_INL_H_
#endif

#include "convlab/kernels/cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// min(max(x, low), high) of each lane; NaN stays NaN.
template <class V>
HWY_INLINE V clamped(V x, V low, V high) {
  if constexpr (kSecondOfNan) return hn::Min(high, hn::Max(low, x));
  x = hn::IfThenElse(hn::Lt(x, low), low, x);
  return hn::IfThenElse(hn::Gt(x, high), high, x);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
