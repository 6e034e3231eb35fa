// Vectors of quantized values, and of the sums of their products with weights, for the two instruction sets that have
// dedicated kernels: AVX3 and AVX2 (CONVLAB_BYTE_VECTORS). Sums are quantized by instructions that work within 16
// bytes, so that what is unpacked within these is packed back in order. Intrinsics, because not all versions of Highway
// have these operations; VPDPBUSD, which neither set guarantees, is inline assembly, and used only if has_unit() finds
// it.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_BYTES_BYTE_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_BYTES_BYTE_VECTORS_INL_H_
#undef CONVLAB_KERNELS_CPU_BYTES_BYTE_VECTORS_INL_H_
#else
#define CONVLAB_KERNELS_CPU_BYTES_BYTE_VECTORS_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "convlab/kernels/cpu/nhwc_int8/byte_levels.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_unit.h"
#include "convlab/kernels/cpu/simd/highway-inl.h"

#undef CONVLAB_BYTE_VECTORS
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
#define CONVLAB_BYTE_VECTORS 1
#include <immintrin.h>
#else
#define CONVLAB_BYTE_VECTORS 0
#endif

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

using Whole = __m512i;
using Real = __m512;

HWY_INLINE Whole zeros() { return _mm512_setzero_si512(); }
HWY_INLINE Whole load(const void* from) { return _mm512_loadu_si512(from); }
HWY_INLINE Whole all_words(int value) { return _mm512_set1_epi16(static_cast<int16_t>(value)); }
HWY_INLINE Whole all_bytes(int value) { return _mm512_set1_epi8(static_cast<char>(value)); }
HWY_INLINE Whole all_of(int32_t value) { return _mm512_set1_epi32(value); }
HWY_INLINE Real all_of(float value) { return _mm512_set1_ps(value); }
HWY_INLINE Real load_real(const float* from) { return _mm512_loadu_ps(from); }
HWY_INLINE Whole add(Whole a, Whole b) { return _mm512_add_epi32(a, b); }
HWY_INLINE Whole pairs_summed(Whole a, Whole b) { return _mm512_madd_epi16(a, b); }
HWY_INLINE Whole pairs_of(Whole levels, Whole weights) { return _mm512_maddubs_epi16(levels, weights); }
HWY_INLINE Whole both_pairs(Whole a, Whole b) { return _mm512_add_epi16(a, b); }
HWY_INLINE void add_dots(Whole& sum, Whole levels, Whole weights) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(levels), "v"(weights));
}
HWY_INLINE Whole low_bytes(Whole a, Whole b) { return _mm512_unpacklo_epi8(a, b); }
HWY_INLINE Whole high_bytes(Whole a, Whole b) { return _mm512_unpackhi_epi8(a, b); }
HWY_INLINE Whole low_words(Whole a, Whole b) { return _mm512_unpacklo_epi16(a, b); }
HWY_INLINE Whole high_words(Whole a, Whole b) { return _mm512_unpackhi_epi16(a, b); }
HWY_INLINE Whole words_of(Whole a, Whole b) { return _mm512_packs_epi32(a, b); }
HWY_INLINE Whole bytes_of(Whole a, Whole b) { return _mm512_packus_epi16(a, b); }
HWY_INLINE Whole add_words(Whole a, Whole b) { return _mm512_adds_epi16(a, b); }
HWY_INLINE Whole larger_bytes(Whole a, Whole b) { return _mm512_max_epu8(a, b); }
HWY_INLINE Whole smaller_bytes(Whole a, Whole b) { return _mm512_min_epu8(a, b); }
HWY_INLINE Real real(Whole a) { return _mm512_cvtepi32_ps(a); }
HWY_INLINE Whole nearest(Real a) { return _mm512_cvtps_epi32(a); }
HWY_INLINE Real rounded(Real a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
HWY_INLINE Real times(Real a, Real b) { return _mm512_mul_ps(a, b); }
HWY_INLINE Real times_plus(Real a, Real b, Real c) { return _mm512_fmadd_ps(a, b, c); }
HWY_INLINE Real smaller(Real a, Real b) { return _mm512_min_ps(a, b); }
HWY_INLINE Real larger(Real a, Real b) { return _mm512_max_ps(a, b); }

/// Separate the bytes of two pixels that bytes_of() returns: all, or the first 4 of each 8.
HWY_INLINE Whole two_pixels(Whole bytes) {
  return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), bytes);
}
HWY_INLINE Whole two_halves(Whole bytes) {
  const Whole order = _mm512_setr_epi32(0, 4, 8, 12, 2, 6, 10, 14, 0, 4, 8, 12, 2, 6, 10, 14);
  return _mm512_permutexvar_epi32(order, bytes);
}
HWY_INLINE void store_two(Whole both, uint8_t* to_a, uint8_t* to_b) {
  const Whole bytes = two_pixels(both);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to_a), _mm512_castsi512_si256(bytes));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to_b), _mm512_extracti64x4_epi64(bytes, 1));
}
HWY_INLINE void store_two_halves(Whole both, uint8_t* to_a, uint8_t* to_b) {
  const __m256i bytes = _mm512_castsi512_si256(two_halves(both));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to_a), _mm256_castsi256_si128(bytes));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to_b), _mm256_extracti128_si256(bytes, 1));
}
/// Load bytes as 16-bit words, and as 32-bit sums.
HWY_INLINE Whole load_as_words(const uint8_t* from) {
  return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
HWY_INLINE Whole load_as_sums(const uint8_t* from) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

/// The same for the first bytes of each pixel only: stores leave the others unchanged, loads return 0 for them.
struct FirstBytes {
  __mmask32 mask;
  explicit FirstBytes(int64_t count) : mask(count >= 32 ? ~__mmask32{0} : (__mmask32{1} << count) - 1) {}

  HWY_INLINE void store_two(Whole both, uint8_t* to_a, uint8_t* to_b) const {
    const Whole bytes = two_pixels(both);
    _mm256_mask_storeu_epi8(to_a, mask, _mm512_castsi512_si256(bytes));
    _mm256_mask_storeu_epi8(to_b, mask, _mm512_extracti64x4_epi64(bytes, 1));
  }
  HWY_INLINE void store_two_halves(Whole both, uint8_t* to_a, uint8_t* to_b) const {
    const __m256i bytes = _mm512_castsi512_si256(two_halves(both));
    _mm_mask_storeu_epi8(to_a, static_cast<__mmask16>(mask), _mm256_castsi256_si128(bytes));
    _mm_mask_storeu_epi8(to_b, static_cast<__mmask16>(mask), _mm256_extracti128_si256(bytes, 1));
  }
  HWY_INLINE Whole load_as_words(const uint8_t* from) const {
    return _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(mask, from));
  }
  HWY_INLINE Whole load_as_sums(const uint8_t* from) const {
    return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(static_cast<__mmask16>(mask), from));
  }
};

/// The first bytes of a vector: loads return 0 for the others, stores leave them unchanged.
struct PartOfVector {
  __mmask64 mask;
  explicit PartOfVector(int64_t count) : mask(count >= 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1) {}

  HWY_INLINE Whole load(const uint8_t* from) const { return _mm512_maskz_loadu_epi8(mask, from); }
  HWY_INLINE void store(Whole bytes, uint8_t* to) const { _mm512_mask_storeu_epi8(to, mask, bytes); }
};

#elif HWY_TARGET == HWY_AVX2

using Whole = __m256i;
using Real = __m256;

HWY_INLINE Whole zeros() { return _mm256_setzero_si256(); }
HWY_INLINE Whole load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
HWY_INLINE Whole all_words(int value) { return _mm256_set1_epi16(static_cast<int16_t>(value)); }
HWY_INLINE Whole all_bytes(int value) { return _mm256_set1_epi8(static_cast<char>(value)); }
HWY_INLINE Whole all_of(int32_t value) { return _mm256_set1_epi32(value); }
HWY_INLINE Real all_of(float value) { return _mm256_set1_ps(value); }
HWY_INLINE Real load_real(const float* from) { return _mm256_loadu_ps(from); }
HWY_INLINE Whole add(Whole a, Whole b) { return _mm256_add_epi32(a, b); }
HWY_INLINE Whole pairs_summed(Whole a, Whole b) { return _mm256_madd_epi16(a, b); }
HWY_INLINE Whole pairs_of(Whole levels, Whole weights) { return _mm256_maddubs_epi16(levels, weights); }
HWY_INLINE Whole both_pairs(Whole a, Whole b) { return _mm256_add_epi16(a, b); }
HWY_INLINE void add_dots(Whole& sum, Whole levels, Whole weights) {
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(levels), "x"(weights));
}
HWY_INLINE Whole low_bytes(Whole a, Whole b) { return _mm256_unpacklo_epi8(a, b); }
HWY_INLINE Whole high_bytes(Whole a, Whole b) { return _mm256_unpackhi_epi8(a, b); }
HWY_INLINE Whole low_words(Whole a, Whole b) { return _mm256_unpacklo_epi16(a, b); }
HWY_INLINE Whole high_words(Whole a, Whole b) { return _mm256_unpackhi_epi16(a, b); }
HWY_INLINE Whole words_of(Whole a, Whole b) { return _mm256_packs_epi32(a, b); }
HWY_INLINE Whole bytes_of(Whole a, Whole b) { return _mm256_packus_epi16(a, b); }
HWY_INLINE Whole add_words(Whole a, Whole b) { return _mm256_adds_epi16(a, b); }
HWY_INLINE Whole larger_bytes(Whole a, Whole b) { return _mm256_max_epu8(a, b); }
HWY_INLINE Whole smaller_bytes(Whole a, Whole b) { return _mm256_min_epu8(a, b); }
HWY_INLINE Real real(Whole a) { return _mm256_cvtepi32_ps(a); }
HWY_INLINE Whole nearest(Real a) { return _mm256_cvtps_epi32(a); }
HWY_INLINE Real rounded(Real a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
HWY_INLINE Real times(Real a, Real b) { return _mm256_mul_ps(a, b); }
HWY_INLINE Real times_plus(Real a, Real b, Real c) { return _mm256_fmadd_ps(a, b, c); }
HWY_INLINE Real smaller(Real a, Real b) { return _mm256_min_ps(a, b); }
HWY_INLINE Real larger(Real a, Real b) { return _mm256_max_ps(a, b); }

HWY_INLINE void store_two(Whole both, uint8_t* to_a, uint8_t* to_b) {
  const Whole bytes = _mm256_permute4x64_epi64(both, 0xd8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to_a), _mm256_castsi256_si128(bytes));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to_b), _mm256_extracti128_si256(bytes, 1));
}
HWY_INLINE void store_two_halves(Whole both, uint8_t* to_a, uint8_t* to_b) {
  const Whole order = _mm256_setr_epi32(0, 4, 2, 6, 0, 4, 2, 6);
  const __m128i bytes = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(both, order));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to_a), bytes);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to_b), _mm_unpackhi_epi64(bytes, bytes));
}
HWY_INLINE Whole load_as_words(const uint8_t* from) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
HWY_INLINE Whole load_as_sums(const uint8_t* from) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
}

struct FirstBytes {
  size_t count;
  explicit FirstBytes(int64_t bytes) : count(static_cast<size_t>(std::min<int64_t>(bytes, 16))) {}

  HWY_INLINE void store_two(Whole both, uint8_t* to_a, uint8_t* to_b) const {
    uint8_t bytes[2][16];
    convlab::HWY_NAMESPACE::store_two(both, bytes[0], bytes[1]);
    std::memcpy(to_a, bytes[0], count);
    std::memcpy(to_b, bytes[1], count);
  }
  HWY_INLINE void store_two_halves(Whole both, uint8_t* to_a, uint8_t* to_b) const {
    uint8_t bytes[2][16];
    convlab::HWY_NAMESPACE::store_two_halves(both, bytes[0], bytes[1]);
    std::memcpy(to_a, bytes[0], count);
    std::memcpy(to_b, bytes[1], count);
  }
  HWY_INLINE Whole load_as_words(const uint8_t* from) const {
    uint8_t bytes[16] = {};
    std::memcpy(bytes, from, count);
    return convlab::HWY_NAMESPACE::load_as_words(bytes);
  }
  HWY_INLINE Whole load_as_sums(const uint8_t* from) const {
    uint8_t bytes[16] = {};
    std::memcpy(bytes, from, count);
    return convlab::HWY_NAMESPACE::load_as_sums(bytes);
  }
};

struct PartOfVector {
  size_t count;
  explicit PartOfVector(int64_t bytes) : count(static_cast<size_t>(std::min<int64_t>(bytes, 32))) {}

  HWY_INLINE Whole load(const uint8_t* from) const {
    alignas(32) uint8_t bytes[32] = {};
    std::memcpy(bytes, from, count);
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes));
  }
  HWY_INLINE void store(Whole bytes, uint8_t* to) const {
    alignas(32) uint8_t part[32];
    _mm256_store_si256(reinterpret_cast<__m256i*>(part), bytes);
    std::memcpy(to, part, count);
  }
};

#endif

#if CONVLAB_BYTE_VECTORS

constexpr int kVectorBytes = sizeof(Whole);
constexpr int kVectorSums = kVectorBytes / 4;

/// Adds 16-bit sums, two for each 32-bit sum.
HWY_INLINE void add_pairs(Whole& sum, Whole pairs) { sum = add(sum, pairs_summed(pairs, all_words(1))); }

/// Adds products of quantized values and weights, 4 bytes of each for each sum.
template <ByteUnit kUnit>
HWY_INLINE void add_products(Whole& sum, Whole levels, Whole weights) {
  if constexpr (kUnit == ByteUnit::dots) {
    add_dots(sum, levels, weights);
  } else if constexpr (kUnit == ByteUnit::words) {
    sum = add(sum, pairs_summed(levels, weights));
  } else {
    add_pairs(sum, pairs_of(levels, weights));
  }
}

/// Prefetches a line into L2.
HWY_INLINE void fetch(const uint8_t* line) { _mm_prefetch(reinterpret_cast<const char*>(line), _MM_HINT_T1); }

/// A LevelRule in registers.
struct Rule {
  Whole zero, low, high;

  explicit Rule(const LevelRule& rule)
      : zero(all_words(rule.zero)), low(all_bytes(rule.low)), high(all_bytes(rule.high)) {}

  /// Converts the numbers of two vectors to 16-bit words, rounded and with `zero` added: within each 16 bytes, first
  /// those of a, then those of b. Numbers are within 2^31.
  HWY_INLINE Whole words(Real a, Real b) const { return add_words(words_of(nearest(a), nearest(b)), zero); }

  /// Converts these words to quantized values: within each 16 bytes, first those of a, then those of b.
  HWY_INLINE Whole levels(Whole a, Whole b) const { return smaller_bytes(larger_bytes(bytes_of(a, b), low), high); }
};

/// An addition after a rule: `a` is rounded and clamped as when quantized, but stays a float without its zero point.
struct SumAfter {
  Real low, high, a_factor, b_factor, rest;

  SumAfter(const LevelRule& a, const ByteSum& sum)
      : low(all_of(static_cast<float>(a.low - a.zero))),
        high(all_of(static_cast<float>(a.high - a.zero))),
        a_factor(all_of(sum.a_factor)),
        b_factor(all_of(sum.b_factor)),
        rest(all_of(sum.rest)) {}

  HWY_INLINE Real sum(Real a, Whole b) const {
    const Real level = rounded(smaller(larger(a, low), high));
    return times_plus(level, a_factor, times_plus(real(b), b_factor, rest));
  }
};

#endif

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
