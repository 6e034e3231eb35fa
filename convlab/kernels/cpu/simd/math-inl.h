// Vectorized activations. Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and, with
// run-time dispatch, hwy/foreach_target.h; hence no #pragma once.

#if defined(CONVLAB_KERNELS_CPU_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_MATH_INL_H_
#undef CONVLAB_KERNELS_CPU_MATH_INL_H_
#else
#define CONVLAB_KERNELS_CPU_MATH_INL_H_
#endif

#include <limits>

#include "convlab/conv/epilogue.h"
#include "convlab/kernels/cpu/simd/highway-inl.h"
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// Whether Min and Max of NaN and a number return the second operand, as on x86.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
inline constexpr bool kSecondOfNan = true;
#else
inline constexpr bool kSecondOfNan = false;
#endif

/// tanh(x): Eigen's odd rational function of degree 13 over 6 (generic_fast_tanh_float). Error: at most 6 ulp for |x|
/// >= 2^-100; the clamp at 7.905 contributes 4.5 of them. NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh_of(D d, V x) {
  const V limit = hn::Set(d, 7.90531110763549805f);
  const V clamped = hn::Max(hn::Neg(limit), hn::Min(limit, x));
  const V square = hn::Mul(clamped, clamped);
  V above = hn::MulAdd(square, hn::Set(d, -2.76076847742355e-16f), hn::Set(d, 2.00018790482477e-13f));
  above = hn::MulAdd(square, above, hn::Set(d, -8.60467152213735e-11f));
  above = hn::MulAdd(square, above, hn::Set(d, 5.12229709037114e-08f));
  above = hn::MulAdd(square, above, hn::Set(d, 1.48572235717979e-05f));
  above = hn::MulAdd(square, above, hn::Set(d, 6.37261928875436e-04f));
  above = hn::MulAdd(square, above, hn::Set(d, 4.89352455891786e-03f));
  V below = hn::MulAdd(square, hn::Set(d, 1.19825839466702e-06f), hn::Set(d, 1.18534705686654e-04f));
  below = hn::MulAdd(square, below, hn::Set(d, 2.26843463243900e-03f));
  below = hn::MulAdd(square, below, hn::Set(d, 4.89352518554385e-03f));
  const V result = hn::Div(hn::Mul(clamped, above), below);
  return kSecondOfNan ? result : hn::IfThenElse(hn::IsNaN(x), x, result);
}

/// exp(x) as 2^n e^r, with a polynomial of degree 6 whose coefficients an exchange (Remez) algorithm found: relative
/// error 3e-9 before rounding. 0 < exp(x) < 2e-38 for x below -87.4, infinity above 88.3; for NaN, the result may be
/// any of these.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of(D d, V x) {
  const hn::RebindToSigned<D> bits;
  x = hn::Max(hn::Min(x, hn::Set(d, 88.7f)), hn::Set(d, -87.4f));
  // 1.5 * 2^23 + 127: adding it rounds x to an integer n. The low bits of the sum are n plus the exponent bias of 127.
  const V whole = hn::Set(d, 12583039.0f);
  const V sum_of_n = hn::MulAdd(x, hn::Set(d, 1.44269504f), whole);
  const V n = hn::Sub(sum_of_n, whole);
  const V r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x));
  V sum = hn::MulAdd(r, hn::Set(d, 0.00138146133f), hn::Set(d, 0.00836870982f));
  sum = hn::MulAdd(r, sum, hn::Set(d, 0.0416683874f));
  sum = hn::MulAdd(r, sum, hn::Set(d, 0.166665207f));
  sum = hn::MulAdd(r, sum, hn::Set(d, 0.499999935f));
  sum = hn::MulAdd(hn::Mul(r, r), sum, hn::Add(r, hn::Set(d, 1.0f)));
  // n is at most 128, which encodes infinity, and at least -126, the exponent of the smallest normal number.
  return hn::Mul(sum, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(bits, sum_of_n))));
}

/// above / (1 + exp(-x)): error of at most 4 ulp for x >= -87; below, the result may be anything under 2e-38 * above.
/// NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid_of(D d, V x, V above) {
  const V one = hn::Set(d, 1.0f);
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Div(above, hn::Add(one, exp_of(d, hn::Neg(x)))));
}

/// 1 / (1 + exp(-x)), likewise.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid_of(D d, V x) {
  return sigmoid_of(d, x, hn::Set(d, 1.0f));
}

/// The activation of each lane; NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V activated(D d, const Activation& activation, V x) {
  const V zero = hn::Zero(d);
  switch (activation.kind) {
    case ActivationKind::none:
      return x;
    case ActivationKind::relu:
      return hn::IfThenElse(hn::Lt(x, zero), zero, x);
    case ActivationKind::leaky_relu:
      return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(hn::Set(d, activation.alpha), x), x);
    case ActivationKind::clip: {
      const V low = hn::Set(d, activation.alpha), high = hn::Set(d, activation.beta);
      x = hn::IfThenElse(hn::Lt(x, low), low, x);
      return hn::IfThenElse(hn::Gt(x, high), high, x);
    }
    case ActivationKind::sigmoid:
      return sigmoid_of(d, x);
    case ActivationKind::tanh:
      return tanh_of(d, x);
    case ActivationKind::swish:
      return sigmoid_of(d, x, x);
    case ActivationKind::hard_swish: {
      const V six = hn::Set(d, 6.0f);
      const V gate = hn::Min(hn::Max(hn::Add(x, hn::Set(d, 3.0f)), zero), six);
      return hn::Mul(hn::Mul(x, gate), hn::Set(d, 1.0f / 6));  // NaN by the first factor
    }
  }
  return x;
}

/// The larger of each pair of lanes, NaN if either is NaN.
template <class V>
HWY_INLINE V max_or_nan(V a, V b) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_NEON
  const V larger = hn::Max(a, b);  // here b if either is NaN, or NaN
#else
  const V larger = hn::IfThenElse(hn::Ge(a, b), a, b);  // b if either is NaN
#endif
  return hn::IfThenElse(hn::IsNaN(a), a, larger);
}

/// The largest of each four lanes, NaN if any is NaN.
template <class V>
HWY_INLINE V max_of_four_or_nan(V a, V b, V c, V d) {
#if HWY_TARGET == HWY_AVX3
  // Five instructions instead of nine: two comparisons find lanes with a NaN, and the last maximum is masked by them.
  if constexpr (sizeof(V) == 64) {
    const __mmask16 numbers =
        _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(a.raw, b.raw, _CMP_ORD_Q), c.raw, d.raw, _CMP_ORD_Q);
    const __m512 nan = _mm512_set1_ps(std::numeric_limits<float>::quiet_NaN());
    return V{_mm512_mask_max_ps(nan, numbers, hn::Max(a, b).raw, hn::Max(c, d).raw)};
  }
#endif
  return max_or_nan(max_or_nan(a, b), max_or_nan(c, d));
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
