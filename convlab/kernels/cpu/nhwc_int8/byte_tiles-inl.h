// Sums in nhwc4 uint8 by tiles; requires AVX-512.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_BYTES_BYTE_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_BYTES_BYTE_TILES_INL_H_
#undef CONVLAB_KERNELS_CPU_BYTES_BYTE_TILES_INL_H_
#else
#define CONVLAB_KERNELS_CPU_BYTES_BYTE_TILES_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "convlab/kernels/cpu/nhwc_int8/byte_end-inl.h"
#include "convlab/kernels/cpu/simd/tile_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

/// AMX tiles with 4 quantized values and 4 weights in a unit: C[i][j] += sum over l < depth and e < 4 of A[i][l][e] *
/// B[l][j][e].
class ByteTilesOfAmx : public AmxTiles {
 public:
  using Sum = int32_t;
  using AmxTiles::AmxTiles;

  template <int kC, int kA, int kB>
  HWY_INLINE void multiply() {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
  }
};

/// The same emulated in memory: tests without AMX check that tiles are assembled correctly.
class ByteTilesInMemory {
 public:
  using Sum = int32_t;
  explicit ByteTilesInMemory(TileShape shape) : shape_(shape) {}

  template <int kTile>
  void zero() {
    std::fill_n(sums_[kTile], kTileRows * kTileRows, 0);
  }
  template <int kTile>
  void load(const void* from, int64_t step) {
    operands_[kTile - kSumTiles] = {static_cast<const uint8_t*>(from), step};
  }
  template <int kTile>
  void store(void* to) {
    std::memcpy(to, sums_[kTile], static_cast<size_t>(shape_.rows * kTileRow));
  }
  template <int kC, int kA, int kB>
  void multiply() {
    const Operand a = operands_[kA - kSumTiles], b = operands_[kB - kSumTiles];
    for (int row = 0; row < shape_.rows; ++row) {
      for (int term = 0; term < shape_.depth * kUnitBytes; ++term) {
        const int level = a.first[row * a.step + term];
        const uint8_t* const weights = b.first + term / kUnitBytes * b.step + term % kUnitBytes;
        for (int map = 0; map < kTileRows; ++map) {
          sums_[kC][row * kTileRows + map] += level * static_cast<int8_t>(weights[map * kUnitBytes]);
        }
      }
    }
  }

 private:
  struct Operand {
    const uint8_t* first = nullptr;
    int64_t step = 0;
  };

  TileShape shape_;
  Operand operands_[4];
  int32_t sums_[kSumTiles][kTileRows * kTileRows];
};

/// A panel's epilogue for sums of tiles.
class ByteTileEnd : public ByteEnd {
 public:
  static constexpr int64_t kTogether = 2;  // positions that are finished together
  using ByteEnd::ByteEnd;

  void finish_places(const PlaceSums<int32_t>& sums, const int32_t* y_at, int64_t count) const {
    if (maps() == kMostMaps) {
      adds() ? finish<2, true>(sums, y_at, count) : finish<2, false>(sums, y_at, count);
    } else {
      adds() ? finish<1, true>(sums, y_at, count) : finish<1, false>(sums, y_at, count);
    }
  }

 private:
  template <int kVectors, bool kAdds>
  HWY_INLINE void finish(const PlaceSums<int32_t>& sums, const int32_t* y_at, int64_t count) const {
    const ByteEnd end = *this;  // in registers: stored bytes might alias *this
    Whole before = zeros();
    int64_t pixel_before = -1;
    for (int64_t i = 0; i < count; ++i) {
      if (y_at[i] < 0) continue;
      const int32_t* const from = sums.first + i * sums.place_step;
      Whole sum[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[v] = add(load(from + v * sums.tile_step), end.start(v));
      const Whole words = end.words<kVectors, kAdds>(sum, y_at[i]);
      if (pixel_before < 0) {
        before = words;
        pixel_before = y_at[i];
        continue;
      }
      end.store<kVectors>(before, pixel_before, words, y_at[i]);
      pixel_before = -1;
    }
    if (pixel_before >= 0) end.store<kVectors>(before, pixel_before, before, pixel_before);
  }
};

template <class Tiles>
void sum_in_tiles(const ByteSums& sums) {
  const int64_t places = std::min(kTileRows, sums.row_places);
  TileSums<Tiles, ByteSums, ByteTileEnd>(sums, TermTiles(sums.units), places).compute();
}

void sum_in_tiles(const ByteSums& sums) {
  if (has_unit(ByteUnit::tiles)) return sum_in_tiles<ByteTilesOfAmx>(sums);
  sum_in_tiles<ByteTilesInMemory>(sums);
}

#endif

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
