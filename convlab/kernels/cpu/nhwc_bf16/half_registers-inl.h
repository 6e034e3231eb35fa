// Sums in bf16 nhwc bfloat16 by VDPBF16PS, in register tiles.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_HALVES_HALF_REGISTERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_HALVES_HALF_REGISTERS_INL_H_
#undef CONVLAB_KERNELS_CPU_HALVES_HALF_REGISTERS_INL_H_
#else
#define CONVLAB_KERNELS_CPU_HALVES_HALF_REGISTERS_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_end-inl.h"
#include "convlab/kernels/cpu/simd/by_count.h"
#include "convlab/kernels/cpu/simd/map_panels.h"
#include "convlab/kernels/cpu/simd/matrix_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

/// Register tile: up to 12 positions x kVectors vectors of 16 output channels.
template <int kVectors>
class RegisterSums {
 public:
  /// Computes all positions, in tiles of nearly equal size.
  static void compute(const HalfSums& sums, const uint16_t* w, int64_t w_count, int64_t next_bytes,
                      const PanelEnd<true>& end) {
    constexpr auto kTile = by_count<kMostPlaces>([](auto places) { return &RegisterSums::tile<places>; });
    const int64_t tiles = ceil_div(sums.count, kMostPlaces);
    WeightsAhead ahead(w + w_count, next_bytes, tiles * ceil_div(w_count, 4 * 2 * kMapsOfTile));
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t place = sums.count * i / tiles, next = sums.count * (i + 1) / tiles;
      kTile[static_cast<size_t>(next - place - 1)](sums, w, ahead, end, place);
    }
  }

 private:
  static constexpr int kMostPlaces = 12;
  static constexpr int64_t kMapsOfTile = kVectors * 16;

  template <int kPlaces>
  static HWY_INLINE void add_pair(__m512 (&sum)[kPlaces][kVectors], const uint16_t* const (&x)[kPlaces], int64_t at,
                                  const uint16_t* w) {
    __m512i weights[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) weights[v] = _mm512_loadu_si512(w + v * 32);
#pragma GCC unroll 12
    for (int p = 0; p < kPlaces; ++p) {
      int32_t both;
      std::memcpy(&both, x[p] + at, sizeof(both));
      const __m512i pair = _mm512_set1_epi32(both);  // one load for all vectors; as memory operands, each would load it
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) asm("vdpbf16ps %2, %1, %0" : "+v"(sum[p][v]) : "v"(weights[v]), "v"(pair));
    }
  }

  template <Ending kEnding, int kPlaces>
  static HWY_INLINE void finish(const __m512 (&sum)[kPlaces][kVectors], const PanelEnd<true>& end,
                                const int32_t* y_at) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      const typename PanelEnd<true>::Column column(end, v * 16);
#pragma GCC unroll 12
      for (int p = 0; p < kPlaces; ++p) column.template finish<kEnding>(Sum{sum[p][v]}, y_at[p]);
    }
  }

  template <int kPlaces>
  static void tile(const HalfSums& sums, const uint16_t* HWY_RESTRICT w, WeightsAhead& all_ahead,
                   const PanelEnd<true>& end, int64_t place) {
    WeightsAhead ahead = all_ahead;
    const TermTiles terms(sums.pairs);
    __m512 sum[kPlaces][kVectors];
    const uint16_t* x[kPlaces];
#pragma GCC unroll 12
    for (int p = 0; p < kPlaces; ++p) {
      x[p] = sums.x + sums.x_at[place + p];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[p][v] = _mm512_setzero_ps();
    }
    for (int64_t row = 0; row < sums.rows; ++row) {
      for (int64_t column = 0; column < sums.columns; ++column) {
        for (int64_t tile = 0; tile < terms.tiles; ++tile) {
          int64_t at = sums.tap_at(row, column) + 2 * terms.first(tile);
          const int64_t last = at + 2 * terms.depth;
          for (; at + 8 <= last; at += 8, w += 4 * 2 * kMapsOfTile) {
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) add_pair<kPlaces>(sum, x, at + 2 * i, w + i * 2 * kMapsOfTile);
            ahead.fetch();
          }
          for (; at < last; at += 2, w += 2 * kMapsOfTile) add_pair<kPlaces>(sum, x, at, w);
        }
      }
    }
    all_ahead = ahead;
    if (end.ending() == Ending::clamp) return finish<Ending::clamp>(sum, end, sums.y_at + place);
    if (end.ending() == Ending::swish) return finish<Ending::swish>(sum, end, sums.y_at + place);
    HWY_ALIGN float memory[kPlaces * kMapsOfTile];
#pragma GCC unroll 12
    for (int p = 0; p < kPlaces; ++p) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) _mm512_store_ps(memory + (p * kVectors + v) * 16, sum[p][v]);
    }
    end.finish_any({memory, kMapsOfTile, 16}, sums.y_at + place, kPlaces);
  }
};

void sum_in_registers(const HalfSums& sums) {
  const TermTiles terms(sums.pairs);
  const int64_t map_count = sums.rows * sums.columns * terms.held() * 2;
  for_panels(sums.maps, sums.w, 2 * map_count,
             [&](int64_t map, int64_t maps, const uint16_t* w, int64_t next) HWY_ATTR {
               const PanelEnd<true> end(sums, map);
               (maps == kPanelMaps ? RegisterSums<2>::compute : RegisterSums<1>::compute)(sums, w, maps * map_count,
                                                                                          next, end);
             });
}

#endif

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
