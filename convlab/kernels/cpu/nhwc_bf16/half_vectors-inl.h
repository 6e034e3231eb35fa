// Converts vectors between fp32 and bf16. Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h
// and hwy/foreach_target.h; hence no #pragma once.

#if defined(CONVLAB_KERNELS_CPU_HALVES_HALF_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_HALVES_HALF_VECTORS_INL_H_
#undef CONVLAB_KERNELS_CPU_HALVES_HALF_VECTORS_INL_H_
#else
#define CONVLAB_KERNELS_CPU_HALVES_HALF_VECTORS_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "convlab/kernels/cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

template <class D>
HWY_INLINE hn::Vec<D> load_halves(D d, const uint16_t* from) {
  const hn::RebindToUnsigned<D> bits;
  const hn::Rebind<uint16_t, D> halves;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(halves, from))));
}

/// Returns the nearest bf16 in the upper 16 bits of each lane, ties to even; NaN becomes the quiet NaN. The lower 16
/// bits are residue of the rounding.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> rounded_to_half(D d, hn::Vec<D> value) {
  const hn::RebindToUnsigned<D> bits;
  const auto from = hn::BitCast(bits, value);
  const auto last = hn::And(hn::ShiftRight<16>(from), hn::Set(bits, 1u));
  const auto rounded = hn::Add(hn::Add(from, hn::Set(bits, 0x7fffu)), last);
  return hn::BitCast(
      bits, hn::IfThenElse(hn::IsNaN(value), hn::BitCast(d, hn::Set(bits, 0x7fc00000u)), hn::BitCast(d, rounded)));
}

template <class D>
HWY_INLINE void store_halves(D d, hn::Vec<D> value, uint16_t* to) {
  const hn::RebindToSigned<D> whole;
  const hn::Rebind<uint16_t, D> halves;
  hn::StoreU(hn::DemoteTo(halves, hn::BitCast(whole, hn::ShiftRight<16>(rounded_to_half(d, value)))), halves, to);
}

#if HWY_TARGET == HWY_AVX3

/// Same with an AVX512-BF16 instruction, which treats denormals as 0. Highway's AVX3 target does not include it, so it
/// is inline assembly, and used only if has_unit() reports it.
HWY_INLINE void convert_and_store(__m512 value, uint16_t* to) {
  __m256i halves;
  asm("vcvtneps2bf16 %1, %0" : "=v"(halves) : "v"(value));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), halves);
}
HWY_INLINE void convert_and_store(__m512 first, __m512 second, uint16_t* to) {
  __m512i halves;
  asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(halves) : "v"(first), "v"(second));
  _mm512_storeu_si512(to, halves);
}

#endif

/// kConverts: rounds a vector of 16 with that instruction.
template <bool kConverts, class D>
HWY_INLINE void round_and_store(D d, hn::Vec<D> value, uint16_t* to) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (kConverts && hn::MaxLanes(D()) == 16) return convert_and_store(value.raw, to);
#endif
  store_halves(d, value, to);
}

/// Returns x / (1 + exp(-x)) with 12 correct bits. bf16 keeps 8 of them. NaN stays NaN.
template <class D>
HWY_INLINE hn::Vec<D> swish_of_half(D d, hn::Vec<D> x) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 16) {
    // exp(-x) = 2^n * 2^r. 2^r is a polynomial of degree 3 with a relative error of 7.5e-5, found by the Remez exchange
    // algorithm.
    const __m512 power = _mm512_max_ps(_mm512_set1_ps(-150), _mm512_mul_ps(x.raw, _mm512_set1_ps(-1.44269504f)));
    const __m512 n = _mm512_roundscale_ps(power, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 r = _mm512_sub_ps(power, n);
    __m512 sum = _mm512_fmadd_ps(r, _mm512_set1_ps(0.0551716723f), _mm512_set1_ps(0.24261114f));
    sum = _mm512_fmadd_ps(r, sum, _mm512_set1_ps(0.693260968f));
    sum = _mm512_fmadd_ps(r, sum, _mm512_set1_ps(0.999928057f));
    const __m512 below = _mm512_add_ps(_mm512_set1_ps(1), _mm512_scalef_ps(sum, n));
    return hn::Vec<D>{_mm512_mul_ps(x.raw, _mm512_rcp14_ps(below))};
  }
#endif
  return sigmoid_of(d, x, x);
}

/// Calls compute(d, first) for each vector of channels. `channels` is a multiple of 8.
template <class Compute>
HWY_INLINE void for_channels(int64_t channels, const Compute& compute) {
  const hn::CappedTag<float, 16> whole;
  const hn::CappedTag<float, 8> part;
  const auto lanes = static_cast<int64_t>(hn::Lanes(whole)), few = static_cast<int64_t>(hn::Lanes(part));
  int64_t c = 0;
  if constexpr (hn::MaxLanes(whole) > hn::MaxLanes(part)) {
    for (; c + lanes <= channels; c += lanes) compute(whole, c);
  }
  for (; c < channels; c += few) compute(part, c);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
