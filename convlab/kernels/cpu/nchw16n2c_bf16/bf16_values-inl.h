// Converts vectors of sums to what is stored: maximum of four, bias, activation, and pairs of bf16.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_BF16_VALUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_BF16_VALUES_INL_H_
#undef CONVLAB_KERNELS_CPU_BF16_VALUES_INL_H_
#else
#define CONVLAB_KERNELS_CPU_BF16_VALUES_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>

#include "convlab/kernels/cpu/simd/highway-inl.h"
#include "convlab/kernels/cpu/simd/math-inl.h"
#include "convlab/kernels/cpu/simd/tanh_table.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

constexpr int64_t kRowFloats = 16;

// A register's share of a row of 16 sums, and of its bits: all of it, or a part.
using Floats = hn::CappedTag<float, kRowFloats>;
using Bits = hn::RebindToUnsigned<Floats>;
using V = hn::Vec<Floats>;

/// Rounds to bf16 in place: to nearest, ties away from 0. A NaN must have no bits set below those of bf16; all results
/// of bf16 operands satisfy this.
HWY_INLINE hn::Vec<Bits> rounded_up(V value) { return hn::Add(hn::BitCast(Bits(), value), hn::Set(Bits(), 0x8000u)); }
HWY_INLINE hn::Vec<Bits> upper_half(hn::Vec<Bits> bits) { return hn::And(bits, hn::Set(Bits(), 0xffff0000u)); }
HWY_INLINE hn::Vec<Bits> paired(hn::Vec<Bits> even, hn::Vec<Bits> odd) {
  return hn::Or(hn::ShiftRight<16>(even), upper_half(odd));
}

/// Stores the values as pairs: their high parts and, if kSplit, their low parts.
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

/// Whether a sum may be NaN or infinite.
enum class Sums { any, finite };

/// table[index % 32].
HWY_INLINE V looked_up(const std::array<float, TanhTable::kPieces>& table, hn::Vec<Bits> index) {
  const Floats d;
#if HWY_TARGET == HWY_AVX3
  return V{_mm512_permutex2var_ps(hn::Load(d, table.data()).raw, index.raw, hn::Load(d, table.data() + 16).raw)};
#else
  const auto inside = hn::And(index, hn::Set(Bits(), TanhTable::kPieces - 1));
  return hn::GatherIndex(d, table.data(), hn::BitCast(hn::RebindToSigned<Floats>(), inside));
#endif
}

/// Returns x clamped to [-limit, limit]. NaN stays NaN, unless kSums rules it out.
template <Sums kSums>
HWY_INLINE V limited(V x, float limit) {
  const Floats d;
#if HWY_TARGET == HWY_AVX3
  static_assert(kSecondOfNan);  // Min and Max return the second operand if either is NaN
  constexpr int kLeastMagnitude = 2;
  if constexpr (kSums == Sums::finite) return V{_mm512_range_ps(x.raw, _mm512_set1_ps(limit), kLeastMagnitude)};
#endif
  const V inside = hn::Max(hn::Set(d, -limit), hn::Min(hn::Set(d, limit), x));
  return kSecondOfNan || kSums == Sums::finite ? inside : hn::IfThenElse(hn::IsNaN(x), x, inside);
}

/// Returns tanh(x) for results that are rounded to bf16: see TanhTable.
template <Sums kSums>
HWY_INLINE V short_tanh(V x) {
  const V inside = limited<kSums>(x, TanhTable::kLimit);
  const V s = hn::MulAdd(inside, inside, hn::Set(Floats(), 1.0f));
  const auto index = hn::ShiftRight<TanhTable::kShift>(hn::BitCast(Bits(), s));
  return hn::Mul(inside, hn::MulAdd(looked_up(kTanhTable.b, index), s, looked_up(kTanhTable.a, index)));
}

/// Returns the maximum of the sums of one output and channel, NaN if any is. kWindow is 1 or 4.
template <int kWindow, Sums kSums>
HWY_INLINE V largest(const float* sums, int64_t right, int64_t below) {
  const Floats d;
  const V a = hn::Load(d, sums);
  if constexpr (kWindow == 1) return a;
  const float* const lower = sums + below;
  const V b = hn::Load(d, sums + right), c = hn::Load(d, lower), e = hn::Load(d, lower + right);
  if constexpr (kSums == Sums::finite) return hn::Max(hn::Max(a, b), hn::Max(c, e));
  return max_of_four_or_nan(a, b, c, e);
}

/// Activations. The two most important ones are known at compile time.
enum class End { any, tanh, short_tanh };

/// Applies the epilogue to the sums of one output and channel.
template <int kWindow, Sums kSums, End kEnd>
HWY_INLINE V ended(const Activation& activation, float bias, const float* sums, int64_t right, int64_t below) {
  const Floats d;
  const V sum = hn::Add(largest<kWindow, kSums>(sums, right, below), hn::Set(d, bias));
  if constexpr (kEnd == End::short_tanh) return short_tanh<kSums>(sum);
  if constexpr (kEnd == End::tanh) return tanh_of(d, sum);
  return activated(d, activation, sum);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
