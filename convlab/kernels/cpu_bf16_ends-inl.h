// What becomes of sums (PairsEnd in cpu_bf16_sums.h), one output of some maps at a time: the largest of four, bias,
// activation, and bfloat16 or float32.
//
// Included once for each instruction set, after convlab/kernels/cpu_simd.h and hwy/foreach_target.h; hence no #pragma
// once.

#if defined(CONVLAB_KERNELS_CPU_BF16_ENDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_BF16_ENDS_INL_H_
#undef CONVLAB_KERNELS_CPU_BF16_ENDS_INL_H_
#else
#define CONVLAB_KERNELS_CPU_BF16_ENDS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <limits>

#include "convlab/kernels/cpu_bf16_sums.h"
#include "convlab/kernels/cpu_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

constexpr int64_t kRowFloats = 16;

// Of a row of sums, and of its bits, what a register holds: all of it, or a part.
using Floats = hn::CappedTag<float, kRowFloats>;
using Bits = hn::RebindToUnsigned<Floats>;
using V = hn::Vec<Floats>;

/// To bfloat16's precision, in place: the nearest, a tie away from 0. No NaN may have bits below those of bfloat16,
/// which is true of all that comes of bfloat16 operands.
HWY_INLINE hn::Vec<Bits> rounded_up(V value) { return hn::Add(hn::BitCast(Bits(), value), hn::Set(Bits(), 0x8000u)); }
HWY_INLINE hn::Vec<Bits> upper_half(hn::Vec<Bits> bits) { return hn::And(bits, hn::Set(Bits(), 0xffff0000u)); }
HWY_INLINE hn::Vec<Bits> paired(hn::Vec<Bits> even, hn::Vec<Bits> odd) {
  return hn::Or(hn::ShiftRight<16>(even), upper_half(odd));
}

/// Stores the values as pairs: their high part and, if kSplit, their low one.
template <bool kSplit>
HWY_INLINE void store_pairs(V even, V odd, std::byte* high, int64_t low_at) {
  const Bits bits;
  const auto even_up = rounded_up(even), odd_up = rounded_up(odd);
  hn::Store(paired(even_up, odd_up), bits, reinterpret_cast<uint32_t*>(high));
  if constexpr (kSplit) {
    const V even_low = hn::Sub(even, hn::BitCast(Floats(), upper_half(even_up)));
    const V odd_low = hn::Sub(odd, hn::BitCast(Floats(), upper_half(odd_up)));
    hn::Store(paired(rounded_up(even_low), rounded_up(odd_low)), bits, reinterpret_cast<uint32_t*>(high + low_at));
  }
}

/// tanh for results that are rounded to bfloat16, to whose error it adds a ninth: x times a rational function of
/// degree 2 over 2 in x^2 with the least largest relative error up to 4.1 (4.2e-4; beyond, 9.7e-4), found by iterated
/// weighted least squares. NaN stays NaN.
HWY_INLINE V short_tanh(V x) {
  const Floats d;
  const V limit = hn::Set(d, 4.1f);
  const V clamped = hn::Max(hn::Neg(limit), hn::Min(limit, x));
  const V square = hn::Mul(clamped, clamped);
  const V above = hn::MulAdd(square, hn::Set(d, 0.08213291f), hn::Set(d, 0.99958763f));
  const V below =
      hn::MulAdd(square, hn::MulAdd(square, hn::Set(d, 0.00644322f), hn::Set(d, 0.41330888f)), hn::Set(d, 1.0f));
#if HWY_TARGET == HWY_AVX3
  static_assert(kSecondOfNan);  // of Min and Max; and the reciprocal is good to 2^-14
  return hn::Mul(hn::Mul(clamped, above), hn::ApproximateReciprocal(below));
#else
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Div(hn::Mul(clamped, above), below));
#endif
}

/// The largest of the sums of one output and map, NaN if any is. kWindow is 1 or 4.
template <int kWindow>
HWY_INLINE V largest(const float* sums, const int64_t (&window)[4]) {
  const Floats d;
  const V a = hn::Load(d, sums + window[0]);
  if constexpr (kWindow == 1) return a;
  const V b = hn::Load(d, sums + window[1]), c = hn::Load(d, sums + window[2]), e = hn::Load(d, sums + window[3]);
#if HWY_TARGET == HWY_AVX3
  // One comparison tells of two numbers whether either is NaN.
  const __mmask16 numbers =
      _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(a.raw, b.raw, _CMP_ORD_Q), c.raw, e.raw, _CMP_ORD_Q);
  const V most = hn::Max(hn::Max(a, b), hn::Max(c, e));
  return V{_mm512_mask_blend_ps(numbers, _mm512_set1_ps(std::numeric_limits<float>::quiet_NaN()), most.raw)};
#else
  return max_or_nan(max_or_nan(a, b), max_or_nan(c, e));
#endif
}

/// Bias and activation. The two that matter most are known at compile time.
enum class End { any, tanh, short_tanh };

template <End kEnd>
HWY_INLINE V ended(const Activation& activation, float bias, V sum) {
  const Floats d;
  sum = hn::Add(sum, hn::Set(d, bias));
  if constexpr (kEnd == End::short_tanh) return short_tanh(sum);
  if constexpr (kEnd == End::tanh) return tanh_of(d, sum);
  return activated(d, activation, sum);
}

/// One output's maps [first, last) as pairs; `first` has its sums at `sums`, the others at steps of sums_step. All that
/// is read again in the loop is copied before: for all that the compiler knows, storing pairs might change it.
template <int kWindow, End kEnd, bool kSplit>
void finish_pairs(const PairsEnd& end, int64_t first, int64_t last, std::byte* to, const float* sums, int64_t sums_step,
                  const int64_t (&given_window)[4]) {
  const Floats d;
  const Activation activation = end.activation;
  const int64_t window[4] = {given_window[0], given_window[1], given_window[2], given_window[3]};
  const int64_t low_at = end.low_at;
  const float* const bias = end.bias;
  int64_t map = first;
  for (; map + 1 < last; map += 2, sums += 2 * sums_step, to += kPairBytes) {
    const V even = ended<kEnd>(activation, bias[map], largest<kWindow>(sums, window));
    const V odd = ended<kEnd>(activation, bias[map + 1], largest<kWindow>(sums + sums_step, window));
    store_pairs<kSplit>(even, odd, to, low_at);
  }
  if (map == last) return;
  store_pairs<kSplit>(ended<kEnd>(activation, bias[map], largest<kWindow>(sums, window)), hn::Zero(d), to, low_at);
}

template <int kWindow, End kEnd>
void finish_floats(const PairsEnd& end, int64_t first, int64_t last, float* to, const float* sums, int64_t sums_step,
                   const int64_t (&window)[4]) {
  const Floats d;
  for (int64_t map = first; map < last; ++map, sums += sums_step, to += end.map_step) {
    hn::Store(ended<kEnd>(end.activation, end.bias[map], largest<kWindow>(sums, window)), d, to);
  }
}

/// Stores one output's maps [first, last), however it is wanted.
template <int kWindow>
void finish(const PairsEnd& end, int64_t first, int64_t last, int64_t output, const float* sums, int64_t sums_step,
            const int64_t (&window)[4]) {
  const Floats d;
  const bool is_tanh = end.activation.kind == ActivationKind::tanh;
  for (int64_t part = 0; part < kRowFloats; part += static_cast<int64_t>(hn::Lanes(d))) {
    const float* from = sums + part;
    if (end.pairs == nullptr) {
      const auto kernel = is_tanh ? finish_floats<kWindow, End::tanh> : finish_floats<kWindow, End::any>;
      kernel(end, first, last, end.floats + first * end.map_step + output * end.floats_step + part, from, sums_step,
             window);
    } else {
      const auto kernel =
          end.low_at != 0
              ? (is_tanh ? finish_pairs<kWindow, End::tanh, true> : finish_pairs<kWindow, End::any, true>)
              : (is_tanh ? finish_pairs<kWindow, End::short_tanh, false> : finish_pairs<kWindow, End::any, false>);
      kernel(end, first, last, end.pairs + output * end.pairs_step + first / 2 * kPairBytes + part * 4, from, sums_step,
             window);
    }
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
