// Vectorised activations. Included once for each instruction set, after convlab/kernels/cpu/simd.h and, where there is
// run-time dispatch, hwy/foreach_target.h; hence no #pragma once.

#if defined(CONVLAB_KERNELS_CPU_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_MATH_INL_H_
#undef CONVLAB_KERNELS_CPU_MATH_INL_H_
#else
#define CONVLAB_KERNELS_CPU_MATH_INL_H_
#endif

#include <limits>

#include "convlab/conv/epilogue.h"
#include "convlab/kernels/cpu/highway-inl.h"
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// Whether Min and Max of NaN and a number give the second operand, as x86's do.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
inline constexpr bool kSecondOfNan = true;
#else
inline constexpr bool kSecondOfNan = false;
#endif

/// tanh(x): the odd rational function of degree 13 over 6 of Eigen (generic_fast_tanh_float). At most 6 units in the
/// last place for |x| >= 2^-100, where the clamp at 7.905 contributes 4.5 of them; NaN stays NaN.
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

/// 1 / (1 + exp(-x)): at most 4 units in the last place for x >= -87; below, where the result is under 2e-38, it may be
/// 0. NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid_of(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V negated = hn::Min(hn::Neg(x), hn::Set(d, 104.0f));  // hwy::Exp is defined up to there
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Div(one, hn::Add(one, hn::Exp(d, negated))));
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
  }
  return x;
}

/// The larger of each pair of lanes, NaN where either is.
template <class V>
HWY_INLINE V max_or_nan(V a, V b) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_NEON
  const V larger = hn::Max(a, b);  // here b where either is NaN, or NaN
#else
  const V larger = hn::IfThenElse(hn::Ge(a, b), a, b);  // b where either is NaN
#endif
  return hn::IfThenElse(hn::IsNaN(a), a, larger);
}

/// The largest of each four lanes, NaN where any is.
template <class V>
HWY_INLINE V max_of_four_or_nan(V a, V b, V c, V d) {
#if HWY_TARGET == HWY_AVX3
  // Five instructions in place of nine: two comparisons tell whether any is NaN, and the last maximum heeds that.
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
