// Vectors of sums on their way to what is stored: the largest of four, bias, activation, and pairs of bfloat16.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd.h and hwy/foreach_target.h; hence no #pragma
// once.

#if defined(CONVLAB_KERNELS_CPU_BF16_VALUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_BF16_VALUES_INL_H_
#undef CONVLAB_KERNELS_CPU_BF16_VALUES_INL_H_
#else
#define CONVLAB_KERNELS_CPU_BF16_VALUES_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>

#include "convlab/kernels/cpu/highway-inl.h"
#include "convlab/kernels/cpu/math-inl.h"
#include "convlab/kernels/cpu/tanh_table.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

constexpr int64_t kRowFloats = 16;

// What a register holds of a row of sums, and of its bits: all, or a part.
using Floats = hn::CappedTag<float, kRowFloats>;
using Bits = hn::RebindToUnsigned<Floats>;
using V = hn::Vec<Floats>;

/// To bfloat16's precision, in place: the nearest, a tie away from 0. No NaN may have bits below those of bfloat16,
/// which is true of all results of bfloat16 operands.
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

/// What is known of sums: whether one may be NaN or infinite.
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

/// x, but no further from 0 than `limit`. NaN stays NaN, if there may be one.
template <Sums kSums>
HWY_INLINE V limited(V x, float limit) {
  const Floats d;
#if HWY_TARGET == HWY_AVX3
  static_assert(kSecondOfNan);  // of Min and Max
  constexpr int kLeastMagnitude = 2;
  if constexpr (kSums == Sums::finite) return V{_mm512_range_ps(x.raw, _mm512_set1_ps(limit), kLeastMagnitude)};
#endif
  const V inside = hn::Max(hn::Set(d, -limit), hn::Min(hn::Set(d, limit), x));
  return kSecondOfNan || kSums == Sums::finite ? inside : hn::IfThenElse(hn::IsNaN(x), x, inside);
}

/// tanh for results that are rounded to bfloat16: see TanhTable.
template <Sums kSums>
HWY_INLINE V short_tanh(V x) {
  const V inside = limited<kSums>(x, TanhTable::kLimit);
  const V s = hn::MulAdd(inside, inside, hn::Set(Floats(), 1.0f));
  const auto index = hn::ShiftRight<TanhTable::kShift>(hn::BitCast(Bits(), s));
  return hn::Mul(inside, hn::MulAdd(looked_up(kTanhTable.b, index), s, looked_up(kTanhTable.a, index)));
}

/// The largest of the sums of one output and map, NaN if any is. kWindow is 1 or 4.
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

/// Activations. The two that matter most are known at compile time.
enum class End { any, tanh, short_tanh };

/// The end of one output's sums of one map.
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
