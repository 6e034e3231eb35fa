// What the register tiles of CPU convolutions share, whether a vector holds pixels of a row (tiles.cc) or images
// (lanes.cc): how many output channels fit, and how one reduction index is added.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_TILE_TERMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_TILE_TERMS_INL_H_
#undef CONVLAB_KERNELS_CPU_TILE_TERMS_INL_H_
#else
#define CONVLAB_KERNELS_CPU_TILE_TERMS_INL_H_
#endif

#include <algorithm>

#include "convlab/kernels/cpu/simd/highway-inl.h"
#include "convlab/kernels/cpu/simd/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using Vector = hn::CappedTag<float, 16>;

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kRegisters = 32;
constexpr int kMostMaps = 8, kMostMapsPooled = 6;
#elif HWY_TARGET == HWY_AVX2
constexpr int kRegisters = 16;
constexpr int kMostMaps = 6, kMostMapsPooled = 3;
#else
constexpr int kRegisters = 16;
constexpr int kMostMaps = 6, kMostMapsPooled = 2;
#endif

/// Returns how many vectors fit with this many output channels: sums, the vectors themselves and one weight must fit
/// the registers.
constexpr int vectors_beside(int maps) { return std::min(8, (kRegisters - 1) / (maps + 1)); }
static_assert(kMostMapsPooled * kPoolWindow + std::min(kMostMapsPooled, kPoolWindow) + 1 <= kRegisters);

/// Adds the products of one reduction index to the sums of kMaps output channels and kVectors vectors. Pixels or
/// weights, whichever are fewer, stay in registers.
template <int kMaps, int kVectors>
HWY_INLINE void add_term(const float* w, const float* const (&x)[kVectors], hn::Vec<Vector> (&sum)[kMaps][kVectors]) {
  const Vector d;
  if constexpr (kMaps < kVectors) {
    hn::Vec<Vector> weights[kMaps];
#pragma GCC unroll 8
    for (int m = 0; m < kMaps; ++m) weights[m] = hn::Set(d, w[m]);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const hn::Vec<Vector> pixels = hn::LoadU(d, x[v]);
#pragma GCC unroll 8
      for (int m = 0; m < kMaps; ++m) sum[m][v] = hn::MulAdd(weights[m], pixels, sum[m][v]);
    }
  } else {
    hn::Vec<Vector> pixels[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) pixels[v] = hn::LoadU(d, x[v]);
#pragma GCC unroll 8
    for (int m = 0; m < kMaps; ++m) {
      const hn::Vec<Vector> weight = hn::Set(d, w[m]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[m][v] = hn::MulAdd(weight, pixels[v], sum[m][v]);
    }
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
