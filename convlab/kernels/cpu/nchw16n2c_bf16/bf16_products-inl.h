// Products of tiles, summed over all tiles along K. `Tiles`, a class of bf16_tiles-inl.h, multiplies them; bf16_jobs.h
// describes the operands.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_BF16_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_BF16_PRODUCTS_INL_H_
#undef CONVLAB_KERNELS_CPU_BF16_PRODUCTS_INL_H_
#else
#define CONVLAB_KERNELS_CPU_BF16_PRODUCTS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_jobs.h"
#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// Operands of a product: kM contiguous tiles A at a time, times kN tiles B.
struct Operands {
  const std::byte* w;
  const int64_t* offsets;
  int64_t term_tiles;
  int64_t low_at;
};

template <int kM, class Tiles>
HWY_INLINE void load_weights(Tiles& tiles, const std::byte* w) {
  tiles.template load<4>(w);
  if constexpr (kM > 1) tiles.template load<5>(w + kTileBytes);
}

template <class Tiles, int kN>
HWY_INLINE void load_pixels(Tiles& tiles, const std::byte* const (&x)[kN], int64_t at) {
  tiles.template load<6>(x[0] + at);
  if constexpr (kN > 1) tiles.template load<7>(x[1] + at);
}

template <int kM, int kN, class Tiles>
HWY_INLINE void multiply(Tiles& tiles) {
  tiles.template multiply<0, 4, 6>();
  if constexpr (kM > 1) tiles.template multiply<1, 5, 6>();
  if constexpr (kN > 1) tiles.template multiply<2, 4, 7>();
  if constexpr (kM > 1 && kN > 1) tiles.template multiply<3, 5, 7>();
}

/// Calls each<tile>(address of its sums in c) for the tiles C in use.
template <int kM, int kN, class Each>
HWY_INLINE void for_sums(float* c, int64_t n_step, int64_t m_step, Each each) {
  each(std::integral_constant<int, 0>(), c);
  if constexpr (kM > 1) each(std::integral_constant<int, 1>(), c + m_step);
  if constexpr (kN > 1) each(std::integral_constant<int, 2>(), c + n_step);
  if constexpr (kM > 1 && kN > 1) each(std::integral_constant<int, 3>(), c + n_step + m_step);
}

/// Sets c to all products or, with kAdd, adds them: tile A m times tile B n goes to c + n * n_step + m * m_step. kHeld:
/// the only tiles A are loaded already. Calls meanwhile() after every few tiles to overlap other work: tile
/// instructions have a long latency, during which vector instructions can run, but out-of-order execution does not look
/// far enough ahead to find more than the next few instructions.
template <class Tiles, int kProducts, int kM, int kN, bool kAdd, bool kHeld = false, class Meanwhile>
HWY_INLINE void sum_products(Tiles& tiles, const Operands& job, const std::byte* const (&x)[kN], float* c,
                             int64_t n_step, int64_t m_step, Meanwhile meanwhile) {
  for_sums<kM, kN>(c, n_step, m_step, [&](auto tile, const float* from) {
    if constexpr (kAdd) {
      tiles.template load<tile>(from);
    } else {
      tiles.template zero<tile>();
    }
  });
  const std::byte* w = job.w;
  const int64_t term_tiles = kHeld ? 1 : job.term_tiles;
  for (int64_t k = 0; k < term_tiles; ++k) {
    const int64_t at = job.offsets[k];
    load_pixels(tiles, x, at);
    if constexpr (!kHeld) load_weights<kM>(tiles, w);
    w += kM * kTileBytes;
    multiply<kM, kN>(tiles);
    if constexpr (kProducts > 1) {  // the tiles above were the low parts of the weights
      load_weights<kM>(tiles, w);
      w += kM * kTileBytes;
      multiply<kM, kN>(tiles);
    }
    if constexpr (kProducts > 2) {
      load_pixels(tiles, x, at + job.low_at);
      multiply<kM, kN>(tiles);
    }
    meanwhile();
  }
  for_sums<kM, kN>(c, n_step, m_step, [&](auto tile, float* to) {
    tiles.template store<tile>(to);
    meanwhile();
  });
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
