// Register tiles of a matrix product with packed B (gemm.h): fp32, fp16, and bf16 pairs, whose two elements are
// multiplied one after the other by multiply-adds, or at once by AVX512-BF16.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_GEMM_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_GEMM_TILES_INL_H_
#undef CONVLAB_KERNELS_CPU_GEMM_TILES_INL_H_
#else
#define CONVLAB_KERNELS_CPU_GEMM_TILES_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "convlab/kernels/cpu/gemm/gemm.h"
#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using F = hn::CappedTag<float, 16>;

// A register tile is kTileRows rows by kTileVectors vectors of C. Accumulators, one row of B and a broadcast element
// of A must fit the registers: 24 + 2 + 1 of 32, or 12 + 2 + 1 of 16.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kTileRows = 12;
#else
constexpr int kTileRows = 6;
#endif
constexpr int kTileVectors = 2;

// If A has one row, up to this many panels are summed at a time, so that no sum waits for the previous one.
constexpr int kPanelVectors = kGemmPanel / static_cast<int>(hn::MaxLanes(F()));
constexpr int kRowPanels = std::max(1, 12 / kPanelVectors);

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_SSE4
constexpr bool kConvertsHalves = false;
#else
constexpr bool kConvertsHalves = true;
#endif

// If A has one row, bf16 pairs are prefetched into L1 this many rows of a panel ahead; 0: no prefetch.
constexpr int64_t kFetchedAhead = 16;

/// K indices per row of a panel: 1 for numbers of B, 2 for bf16 pairs.
template <class B>
constexpr int kTerms = std::is_same_v<B, uint32_t> ? 2 : 1;

using Bits = hn::RebindToUnsigned<F>;

/// Returns a mask of the upper 16 bits of each lane. For several rows, when registers are scarce, it is loaded from
/// memory each time: otherwise GCC keeps it in a register, and spills sums to the stack.
template <int kRows>
HWY_INLINE hn::Vec<Bits> upper_halves(const uint32_t* pairs) {
  uint32_t mask = 0xffff0000u;
  if constexpr (kRows > 1 && HWY_TARGET != HWY_AVX3) asm("" : "+m"(mask) : "r"(pairs));
  (void)pairs;
  return hn::Set(Bits(), mask);
}

// Loads a vector of a row of B for a tile of kRows rows; for pairs, one of their two elements.
template <int kTerm, int kRows>
HWY_INLINE hn::Vec<F> load(const float* from) {
  return hn::Load(F(), from);
}
template <int kTerm, int kRows>
HWY_INLINE hn::Vec<F> load(const hwy::float16_t* from) {
  return hn::PromoteTo(F(), hn::Load(hn::Rebind<hwy::float16_t, F>(), from));
}
template <int kTerm, int kRows>
HWY_INLINE hn::Vec<F> load(const uint32_t* from) {
  const auto pairs = hn::Load(Bits(), from);
  return hn::BitCast(F(), kTerm == 0 ? hn::ShiftLeft<16>(pairs) : hn::And(pairs, upper_halves<kRows>(from)));
}

/// Returns the address of vector v of a row of B, counted from a register tile's first one.
template <class B>
HWY_INLINE const B* vector_of(const B* b, int v, int64_t panel_step) {
  const int64_t column = v * static_cast<int64_t>(hn::Lanes(F()));
  return b + column / kGemmPanel * panel_step + column % kGemmPanel;
}

/// Adds the products of one K index to a register tile; for pairs, of one of the two.
template <int kTerm, int kRows, int kVectors, class B>
HWY_INLINE void add_term(const float* HWY_RESTRICT a, int64_t lda, const B* HWY_RESTRICT b, int64_t panel_step,
                         hn::Vec<F> (&sum)[kRows][kVectors]) {
  if constexpr (kRows == 1) {
    const hn::Vec<F> factor = hn::Set(F(), *a);
#pragma GCC unroll 12
    for (int v = 0; v < kVectors; ++v) {
      sum[0][v] = hn::MulAdd(factor, load<kTerm, kRows>(vector_of(b, v, panel_step)), sum[0][v]);
    }
    return;
  }
  hn::Vec<F> row[kVectors];
#pragma GCC unroll 12
  for (int v = 0; v < kVectors; ++v) row[v] = load<kTerm, kRows>(vector_of(b, v, panel_step));
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    const hn::Vec<F> factor = hn::Set(F(), a[i * lda]);
#pragma GCC unroll 12
    for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(factor, row[v], sum[i][v]);
  }
}

/// Adds the products of one row of B, for number or pair `step` of A's rows.
template <int kRows, int kVectors, class B>
HWY_INLINE void add_row(int64_t step, const float* HWY_RESTRICT a, int64_t lda, const B* HWY_RESTRICT b,
                        int64_t panel_step, hn::Vec<F> (&sum)[kRows][kVectors]) {
  add_term<0>(a + step * kTerms<B>, lda, b, panel_step, sum);
  if constexpr (kTerms<B> == 2) add_term<1>(a + step * 2 + 1, lda, b, panel_step, sum);
}

#if HWY_TARGET == HWY_AVX3

/// Same for A in pairs, too, by VDPBF16PS. Highway's AVX3 target does not include it, so it is inline assembly, and
/// used only if has_unit() reports it.
template <int kRows, int kVectors>
HWY_INLINE void add_row(int64_t step, const uint32_t* HWY_RESTRICT a, int64_t lda, const uint32_t* HWY_RESTRICT b,
                        int64_t panel_step, hn::Vec<F> (&sum)[kRows][kVectors]) {
  __m512i row[kVectors];
#pragma GCC unroll 12
  for (int v = 0; v < kVectors; ++v) row[v] = _mm512_load_si512(vector_of(b, v, panel_step));
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    const __m512i factor = _mm512_set1_epi32(static_cast<int>(a[i * lda + step]));
#pragma GCC unroll 12
    for (int v = 0; v < kVectors; ++v) asm("vdpbf16ps %2, %1, %0" : "+v"(sum[i][v].raw) : "v"(factor), "v"(row[v]));
  }
}

/// Loads min(count, 16) numbers, padded with zeros.
HWY_INLINE __m512 load_some(const float* from, int64_t count) {
  const int64_t some = std::clamp<int64_t>(count, 0, 16);
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << some) - 1), from);
}

/// Loads min(count, 32) numbers, padded with zeros, as pairs of the nearest bf16.
HWY_INLINE __m512i rounded_pairs(const float* from, int64_t count) {
  const __m512 low = load_some(from, count), high = load_some(from + 16, count - 16);
  __m512i rounded;
  asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(rounded) : "v"(low), "v"(high));
  return rounded;
}

/// Rounds `depth` numbers of a row of A to pairs, in whole cache lines.
void round_to_pairs(int64_t depth, const float* HWY_RESTRICT a, uint32_t* HWY_RESTRICT pairs) {
  for (int64_t k = 0; k < depth; k += 32) _mm512_store_si512(pairs + k / 2, rounded_pairs(a + k, depth - k));
}

#endif  // HWY_AVX3

/// Computes one register tile: kRows x (kVectors * lanes) of C = or += A * B. Rows of B are kGemmPanel elements apart;
/// if the tile is wider than a panel, panels are panel_step elements apart. A is numbers or, as B, pairs, and so are
/// depth and lda. `next`: elements from B to what is needed after it.
template <int kRows, int kVectors, class A, class B>
void tile(int64_t depth, const A* HWY_RESTRICT a, int64_t lda, const B* HWY_RESTRICT b, int64_t panel_step,
          int64_t next, float* HWY_RESTRICT c, int64_t ldc, bool add) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<F> sum[kRows][kVectors];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 12
    for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::Zero(d);
  }
  constexpr bool kFetches = kFetchedAhead > 0 && kRows == 1 && kTerms<B> == 2;
  constexpr int kTogether = kTerms<B> / kTerms<A>;  // elements of A per row of B
  const int64_t steps = depth / kTogether;
  const B* later = b + kFetchedAhead * kGemmPanel;
  for (int64_t step = 0; step < steps; ++step, b += kGemmPanel) {
    if constexpr (kFetches) {
      if (step + kFetchedAhead == steps) later += next - steps * kGemmPanel;
      constexpr int kLineVectors = std::max(1, 16 / static_cast<int>(hn::MaxLanes(d)));
#pragma GCC unroll 12
      for (int v = 0; v < kVectors; v += kLineVectors) __builtin_prefetch(vector_of(later, v, panel_step));
      later += kGemmPanel;
    }
    add_row(step, a, lda, b, panel_step, sum);
  }
  if constexpr (kTogether == 2) {
    if (depth % 2 != 0) add_term<0>(a + depth - 1, lda, b, panel_step, sum);
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 12
    for (int v = 0; v < kVectors; ++v) {
      float* to = c + i * ldc + v * lanes;
      hn::StoreU(add ? hn::Add(hn::LoadU(d, to), sum[i][v]) : sum[i][v], d, to);
    }
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
