// Tiles of bf16 operands and fp32 sums, for each multiply unit. Included once for each instruction set, after
// convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no #pragma once.
//
// Shapes are those of matrix_tiles.h:
//
//   C[i][j] += sum over l < depth of A[i][l][0] * B[l][j][0] + A[i][l][1] * B[l][j][1]
//
// Rows of A and B may be any number of bytes apart: load() has the step as a parameter.
//
// Tiles are numbered as in AMX. Rows beyond the job's shape are neither read nor written, so that a zero is never
// multiplied by a possible NaN.

#if defined(CONVLAB_KERNELS_CPU_BF16_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_BF16_TILES_INL_H_
#undef CONVLAB_KERNELS_CPU_BF16_TILES_INL_H_
#else
#define CONVLAB_KERNELS_CPU_BF16_TILES_INL_H_
#endif

#include <cstring>

#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_jobs.h"
#include "convlab/kernels/cpu/simd/amx_tiles-inl.h"
#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// Rows of pairs in memory.
struct PairRows {
  const uint32_t* first = nullptr;
  int64_t step = 0;  ///< pairs from row to row

  HWY_INLINE const uint32_t* row(int64_t i) const { return first + i * step; }
};

/// Tiles in memory; Dot::add<kRows>(sums, a, b, depth) adds to some rows of C.
template <class Dot>
class TilesInMemory {
 public:
  using Sum = float;
  static constexpr bool kIsForChecks = Dot::kIsForChecks;
  explicit TilesInMemory(TileShape shape) : shape_(shape) {}

  template <int kTile>
  HWY_INLINE void zero() {
    std::memset(sums_[kTile], 0, static_cast<size_t>(shape_.rows * kTileRow));
  }
  template <int kTile>
  HWY_INLINE void load(const void* from, int64_t step = kTileRow) {
    if constexpr (kTile < kSumTiles) {
      std::memcpy(sums_[kTile], from, static_cast<size_t>(shape_.rows * kTileRow));
    } else {
      operands_[kTile - kSumTiles] = {static_cast<const uint32_t*>(from), step / 4};
    }
  }
  template <int kTile>
  HWY_INLINE void store(float* to) {
    std::memcpy(to, sums_[kTile], static_cast<size_t>(shape_.rows * kTileRow));
  }
  template <int kC, int kA, int kB>
  HWY_INLINE void multiply() {
    add_all(sums_[kC], operands_[kA - kSumTiles], operands_[kB - kSumTiles], shape_);
  }

 private:
  /// Not inlined: a call is cheap compared with a tile's sums, and copies of this in every loop add a minute of compile
  /// time.
  static HWY_NOINLINE void add_all(float* c, PairRows a, PairRows b, TileShape shape) {
    int row = 0;
    for (; row + 8 <= shape.rows; row += 8) Dot::template add<8>(c + row * 16, {a.row(row), a.step}, b, shape.depth);
    for (; row + 4 <= shape.rows; row += 4) Dot::template add<4>(c + row * 16, {a.row(row), a.step}, b, shape.depth);
    for (; row < shape.rows; ++row) Dot::template add<1>(c + row * 16, {a.row(row), a.step}, b, shape.depth);
  }

  TileShape shape_;
  PairRows operands_[4];
  HWY_ALIGN float sums_[kSumTiles][16 * 16];
};

/// Multiplies a pair with two fp32 multiply-adds.
struct DotInVectors {
  static constexpr bool kIsForChecks = true;
  template <int kRows>
  static void add(float* c, PairRows a, PairRows b, int depth) {
    const hn::CappedTag<float, 16> d;
    const hn::RebindToUnsigned<decltype(d)> bits;
    using V = hn::Vec<decltype(d)>;
    const auto upper = hn::Set(bits, 0xffff0000u);
    const int lanes = static_cast<int>(hn::Lanes(d));
    for (int part = 0; part < 16; part += lanes) {
      V sum[kRows];
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) sum[i] = hn::Load(d, c + i * 16 + part);
      for (int l = 0; l < depth; ++l) {
        const auto pair = hn::LoadU(bits, b.row(l) + part);
        const V first = hn::BitCast(d, hn::ShiftLeft<16>(pair)), second = hn::BitCast(d, hn::And(pair, upper));
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) {
          const auto weights = hn::Set(bits, a.row(i)[l]);
          sum[i] = hn::MulAdd(hn::BitCast(d, hn::ShiftLeft<16>(weights)), first, sum[i]);
          sum[i] = hn::MulAdd(hn::BitCast(d, hn::And(weights, upper)), second, sum[i]);
        }
      }
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) hn::Store(sum[i], d, c + i * 16 + part);
    }
  }
};
using TilesOfVectors = TilesInMemory<DotInVectors>;

#if HWY_TARGET == HWY_AVX3

/// VDPBF16PS. Highway's AVX3 target does not include it, so it is inline assembly, and used only if has_unit() reports
/// it.
struct DotOfAvx512Bf16 {
  static constexpr bool kIsForChecks = false;
  template <int kRows>
  static void add(float* c, PairRows a, PairRows b, int depth) {
    __m512 sum[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) sum[i] = _mm512_load_ps(c + i * 16);
    for (int l = 0; l < depth; ++l) {
      const __m512i pairs = _mm512_loadu_si512(b.row(l));
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        asm("vdpbf16ps %2%{1to16%}, %1, %0" : "+v"(sum[i]) : "v"(pairs), "m"(a.row(i)[l]));
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) _mm512_store_ps(c + i * 16, sum[i]);
  }
};
using TilesOfAvx512Bf16 = TilesInMemory<DotOfAvx512Bf16>;

#endif  // HWY_AVX3

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
