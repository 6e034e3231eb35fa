// Tiles of bfloat16 operands and float32 sums, by each unit of a processor. Included once for each instruction set,
// after convlab/kernels/cpu/simd.h and hwy/foreach_target.h; hence no #pragma once.
//
// A tile is 1 KiB, up to 16 rows of 64 bytes. C is rows x 16 floats; A is rows x `depth` pairs of terms; B is depth
// rows of 16 pairs, one for each column of C:
//
//   C[i][j] += sum over l < depth of A[i][l][0] * B[l][j][0] + A[i][l][1] * B[l][j][1]
//
// As with Intel's AMX, eight are at hand by their number: 0 to 3 for C, 4 and 5 for A, 6 and 7 for B. Rows beyond those
// of the job's shape are neither read nor written, so that no zero is multiplied by what may be NaN.

#if defined(CONVLAB_KERNELS_CPU_BF16_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_BF16_TILES_INL_H_
#undef CONVLAB_KERNELS_CPU_BF16_TILES_INL_H_
#else
#define CONVLAB_KERNELS_CPU_BF16_TILES_INL_H_
#endif

#include <cstring>

#include "convlab/kernels/cpu/highway-inl.h"
#include "convlab/kernels/cpu_pairs/bf16_sums.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

constexpr int64_t kTileRow = 64;  // bytes
constexpr int kSumTiles = 4;      // tiles 0 to 3 are C

/// Tiles in memory; Dot::add<kRows>(sums, a, b, depth) adds to some rows of C.
template <class Dot>
class TilesInMemory {
 public:
  static constexpr bool kIsForChecks = Dot::kIsForChecks;
  explicit TilesInMemory(TileShape shape) : shape_(shape) {}

  template <int kTile>
  HWY_INLINE void zero() {
    std::memset(sums_[kTile], 0, static_cast<size_t>(shape_.rows * kTileRow));
  }
  template <int kTile>
  HWY_INLINE void load(const void* from) {
    if constexpr (kTile < kSumTiles) {
      std::memcpy(sums_[kTile], from, static_cast<size_t>(shape_.rows * kTileRow));
    } else {
      operands_[kTile - kSumTiles] = static_cast<const uint32_t*>(from);
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
  /// Not inlined: a call is little beside a tile's sums, and copies of this in every loop cost the compiler a minute.
  static HWY_NOINLINE void add_all(float* c, const uint32_t* a, const uint32_t* b, TileShape shape) {
    int row = 0;
    for (; row + 8 <= shape.rows; row += 8) Dot::template add<8>(c + row * 16, a + row * 16, b, shape.depth);
    for (; row + 4 <= shape.rows; row += 4) Dot::template add<4>(c + row * 16, a + row * 16, b, shape.depth);
    for (; row < shape.rows; ++row) Dot::template add<1>(c + row * 16, a + row * 16, b, shape.depth);
  }

  TileShape shape_;
  const uint32_t* operands_[4] = {};  ///< pairs, 16 a row
  HWY_ALIGN float sums_[kSumTiles][16 * 16];
};

/// Pairs as two float32 multiply-adds.
struct DotInVectors {
  static constexpr bool kIsForChecks = true;
  template <int kRows>
  static void add(float* c, const uint32_t* a, const uint32_t* b, int depth) {
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
        const auto pair = hn::Load(bits, b + l * 16 + part);
        const V first = hn::BitCast(d, hn::ShiftLeft<16>(pair)), second = hn::BitCast(d, hn::And(pair, upper));
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) {
          const auto weights = hn::Set(bits, a[i * 16 + l]);
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

/// VDPBF16PS, which AVX3 does not promise; so it is written out, and used only where has_unit() has found it.
struct DotOfAvx512Bf16 {
  static constexpr bool kIsForChecks = false;
  template <int kRows>
  static void add(float* c, const uint32_t* a, const uint32_t* b, int depth) {
    __m512 sum[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) sum[i] = _mm512_load_ps(c + i * 16);
    for (int l = 0; l < depth; ++l) {
      const __m512i pairs = _mm512_load_si512(b + l * 16);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        asm("vdpbf16ps %2%{1to16%}, %1, %0" : "+v"(sum[i]) : "v"(pairs), "m"(a[i * 16 + l]));
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) _mm512_store_ps(c + i * 16, sum[i]);
  }
};
using TilesOfAvx512Bf16 = TilesInMemory<DotOfAvx512Bf16>;

/// AMX's own tiles. Compilers' intrinsics want a tile's number as a literal, which a template cannot give; so the
/// instructions are written out. The configuration belongs to the thread, from construction to destruction.
class TilesOfAmx {
 public:
  static constexpr bool kIsForChecks = false;
  explicit TilesOfAmx(TileShape shape) {
    alignas(64) struct {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {};
      uint8_t rows[16] = {};
    } config;
    static_assert(sizeof(config) == 64);
    for (int tile = 0; tile < 8; ++tile) {
      const bool is_a = tile == 4 || tile == 5, is_b = tile >= 6;
      config.rows[tile] = static_cast<uint8_t>(is_b ? shape.depth : shape.rows);
      config.row_bytes[tile] = static_cast<uint16_t>(is_a ? shape.depth * 4 : kTileRow);
    }
    asm volatile("ldtilecfg %0" ::"m"(config) : "memory");
  }
  ~TilesOfAmx() { asm volatile("tilerelease" ::: "memory"); }
  TilesOfAmx(const TilesOfAmx&) = delete;
  TilesOfAmx& operator=(const TilesOfAmx&) = delete;

  template <int kTile>
  HWY_INLINE void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }
  template <int kTile>
  HWY_INLINE void load(const void* from) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(kTileRow), "i"(kTile) : "memory");
  }
  template <int kTile>
  HWY_INLINE void store(float* to) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(kTileRow), "i"(kTile) : "memory");
  }
  template <int kC, int kA, int kB>
  HWY_INLINE void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
  }
};

#endif  // HWY_AVX3

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
