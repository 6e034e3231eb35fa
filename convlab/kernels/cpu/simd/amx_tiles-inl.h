// AMX tiles, with the shapes that matrix_tiles.h describes. Included once for each instruction set, after
// convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no #pragma once.
//
// There are eight, addressed by number: 0 to 3 hold C, 4 and 5 hold A, 6 and 7 hold B. Rows beyond those of the job's
// shape are neither read nor written.

#if defined(CONVLAB_KERNELS_CPU_AMX_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_AMX_TILES_INL_H_
#undef CONVLAB_KERNELS_CPU_AMX_TILES_INL_H_
#else
#define CONVLAB_KERNELS_CPU_AMX_TILES_INL_H_
#endif

#include <cstdint>

#include "convlab/kernels/cpu/simd/highway-inl.h"
#include "convlab/kernels/cpu/simd/matrix_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

constexpr int64_t kTileRow = 64;  // bytes
constexpr int kSumTiles = 4;      // tiles 0 to 3 are C

/// Memory of unknown length, as an asm operand. Clang does not read arrays of unknown bound; GCC warns about an array
/// this large.
#if HWY_COMPILER_CLANG
using TileMemory = char[1 << 30];
#else
using TileMemory = char[];
#endif

#if HWY_TARGET == HWY_AVX3

/// Everything but the multiplication, which one derived class adds for bf16 and another, elsewhere, for bytes. Compiler
/// intrinsics require the tile number as a literal, which a template parameter is not, so this uses inline assembly.
/// The configuration is per thread and lasts from construction to destruction.
class AmxTiles {
 public:
  static constexpr bool kIsForChecks = false;
  explicit AmxTiles(TileShape shape) {
    alignas(64) struct {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {};
      uint8_t rows[16] = {};
    } config;
    static_assert(sizeof(config) == 64);
    for (int tile = 0; tile < 8; ++tile) {
      const bool is_a = tile == 4 || tile == 5, is_b = tile >= 6;
      config.rows[tile] = static_cast<uint8_t>(is_b ? shape.depth : shape.rows);
      config.row_bytes[tile] = static_cast<uint16_t>(is_a ? shape.depth * kUnitBytes : kTileRow);
    }
    asm volatile("ldtilecfg %0" ::"m"(config) : "memory");
  }
  ~AmxTiles() { asm volatile("tilerelease" ::: "memory"); }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  template <int kTile>
  HWY_INLINE void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }
  template <int kTile>
  HWY_INLINE void load(const void* from, int64_t step = kTileRow) {
    // The memory it reads is an operand, not a "memory" clobber, so the compiler may keep other values in registers.
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(step), "i"(kTile),
                 "m"(*static_cast<const TileMemory*>(from)));
  }
  template <int kTile>
  HWY_INLINE void store(void* to) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(kTileRow), "i"(kTile) : "memory");
  }
};

/// AMX tiles of bf16 pairs.
class TilesOfAmx : public AmxTiles {
 public:
  using Sum = float;
  using AmxTiles::AmxTiles;

  template <int kC, int kA, int kB>
  HWY_INLINE void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
  }
};

#endif  // HWY_AVX3

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
