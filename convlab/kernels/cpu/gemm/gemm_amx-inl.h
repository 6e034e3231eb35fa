// Matrix product with B packed as bf16_tiles (gemm.h), by AMX. A tile of C is 16 rows by 16 columns: two tiles of rows
// by the two of a panel, or one tile of rows by those of two panels. It is accumulated in one pass through all blocks
// of B.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_GEMM_AMX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_GEMM_AMX_INL_H_
#undef CONVLAB_KERNELS_CPU_GEMM_AMX_INL_H_
#else
#define CONVLAB_KERNELS_CPU_GEMM_AMX_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/gemm/gemm.h"
#include "convlab/kernels/cpu/gemm/gemm_tiles-inl.h"
#include "convlab/kernels/cpu/simd/amx_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

constexpr int64_t kSumColumns = 16;  // columns of a tile of C

#if HWY_TARGET == HWY_AVX3

/// Rounds steps [first, last) of all rows of A to bf16 tiles: [tile of rows][step of 32 along K]. Rows and K indices
/// beyond A's are zero.
void round_to_tiles(const Gemm& gemm, int64_t first, int64_t last, unsigned char* tiles) {
  const int64_t steps = ceil_div(gemm.k, kGemmTileDepth);
  for (int64_t row = 0; row < round_up(gemm.m, convlab::kTileRows); ++row) {
    unsigned char* const to =
        tiles + row / convlab::kTileRows * steps * kTileBytes + row % convlab::kTileRows * kTileRow;
    for (int64_t step = first; step < last; ++step) {
      const int64_t at = step * kGemmTileDepth;
      const __m512i pairs =
          row < gemm.m ? rounded_pairs(gemm.a + row * gemm.k + at, gemm.k - at) : _mm512_setzero_si512();
      _mm512_store_si512(to + step * kTileBytes, pairs);
    }
  }
}

/// Prefetches into L2 a step's part of a panel, which the next block needs.
HWY_INLINE void fetch_step(const unsigned char* b) {
#pragma GCC unroll 32
  for (int64_t line = 0; line < 2 * kTileBytes; line += kTileRow) __builtin_prefetch(b + line, 0, 2);
}

/// Computes the part of C that is kM row tiles from `row_tile` on, by kPanels panels of 32 columns from `panel` on.
template <int kM, int kPanels>
HWY_INLINE void multiply_tiles(TilesOfAmx& tiles, const Gemm& gemm, const unsigned char* a, int64_t row_tile,
                               int64_t panel) {
  constexpr int kN = 2 * kPanels;
  static_assert(kM * kN <= kSumTiles);
  constexpr int64_t kStep = 2 * kTileBytes;  // bytes of a panel per step
  const int64_t steps = ceil_div(gemm.k, kGemmTileDepth), most = kGemmPairsDepth / kGemmTileDepth;
  const int64_t panels = ceil_div(gemm.n, kGemmPanel);
  const unsigned char* upper = a + row_tile * steps * kTileBytes;
  tiles.zero<0>();
  tiles.zero<1>();
  tiles.zero<2>();
  tiles.zero<3>();
  for (int64_t first = 0; first < steps; first += most) {
    const int64_t count = std::min(most, steps - first);
    const auto* b = static_cast<const unsigned char*>(gemm.b.data) + (first * panels + panel * count) * kStep;
    for (int64_t step = 0; step < count; ++step, upper += kTileBytes, b += kStep) {
      const unsigned char* const right = b + count * kStep;  // in the next panel
      fetch_step(b + panels * count * kStep);
      if constexpr (kPanels == 2) fetch_step(right + panels * count * kStep);
      tiles.load<4>(upper);
      tiles.load<6>(b, 2 * kTileRow);
      tiles.multiply<0, 4, 6>();
      tiles.load<7>(b + kTileRow, 2 * kTileRow);
      tiles.multiply<1, 4, 7>();
      if constexpr (kM == 2) {
        tiles.load<5>(upper + steps * kTileBytes);
        tiles.multiply<2, 5, 6>();
        tiles.multiply<3, 5, 7>();
      }
      if constexpr (kPanels == 2) {
        tiles.load<6>(right, 2 * kTileRow);
        tiles.multiply<2, 4, 6>();
        tiles.load<7>(right + kTileRow, 2 * kTileRow);
        tiles.multiply<3, 4, 7>();
      }
    }
  }
  HWY_ALIGN float sums[kSumTiles][convlab::kTileRows * kSumColumns];
  tiles.store<0>(sums[0]);
  tiles.store<1>(sums[1]);
  tiles.store<2>(sums[2]);
  tiles.store<3>(sums[3]);
  for (int tile = 0; tile < kM * kN; ++tile) {
    const int64_t row = (row_tile + tile / kN) * convlab::kTileRows, rows = std::min(convlab::kTileRows, gemm.m - row);
    const int64_t column = panel * kGemmPanel + tile % kN * kSumColumns;
    const int64_t columns = std::clamp<int64_t>(gemm.n - column, 0, kSumColumns);
    for (int64_t i = 0; i < rows; ++i) {
      std::copy_n(sums[tile] + i * kSumColumns, columns, gemm.c + (row + i) * gemm.n + column);
    }
  }
}

/// Multiplies some row tiles by some panels; `a` is the output of round_to_tiles(). With several row tiles, two at a
/// time stream past a panel.
void multiply_in_tiles(const Gemm& gemm, const unsigned char* a, int64_t first_row, int64_t last_row,
                       int64_t first_panel, int64_t last_panel) {
  TilesOfAmx tiles(TileShape{});
  for (int64_t panel = first_panel; panel < last_panel;) {
    const bool two = last_row - first_row == 1 && panel + 2 <= last_panel;
    for (int64_t row = first_row; row < last_row; row += 2) {
      if (two) {
        multiply_tiles<1, 2>(tiles, gemm, a, row, panel);
      } else if (row + 2 <= last_row) {
        multiply_tiles<2, 1>(tiles, gemm, a, row, panel);
      } else {
        multiply_tiles<1, 1>(tiles, gemm, a, row, panel);
      }
    }
    panel += two ? 2 : 1;
  }
}

#else

HWY_INLINE void round_to_tiles(const Gemm&, int64_t, int64_t, unsigned char*) {}
HWY_INLINE void multiply_in_tiles(const Gemm&, const unsigned char*, int64_t, int64_t, int64_t, int64_t) {}

#endif  // HWY_AVX3

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
