// Highway, as `hn`. Adds what kernels use and versions before 1.0 lack (Ubuntu 22.04 has 0.16).
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_HIGHWAY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_HIGHWAY_INL_H_
#undef CONVLAB_KERNELS_CPU_HIGHWAY_INL_H_
#else
#define CONVLAB_KERNELS_CPU_HIGHWAY_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

#if HWY_MAJOR > 0
namespace hn = hwy::HWY_NAMESPACE;
#else
namespace hn {
using namespace hwy::HWY_NAMESPACE;

/// In those versions it has two lanes in scalar code, whose vectors have one.
template <class T, size_t kMost>
using CappedTag = Simd<T, HWY_MIN(kMost, HWY_LANES(T)), 0>;

template <class V>
HWY_INLINE auto IsNaN(V v) {
  return Not(Eq(v, v));
}

/// Highway's own does not compile as C++20.
template <class V>
HWY_INLINE auto Ne(V a, V b) {
  return Not(Eq(a, b));
}

template <class D, class V>
HWY_INLINE void LoadInterleaved2(D d, const float* from, V& even, V& odd) {
  HWY_ALIGN float evens[MaxLanes(D())], odds[MaxLanes(D())];
  for (size_t i = 0; i < MaxLanes(d); ++i) {
    evens[i] = from[2 * i];
    odds[i] = from[2 * i + 1];
  }
  even = Load(d, evens);
  odd = Load(d, odds);
}

}  // namespace hn
#endif

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
