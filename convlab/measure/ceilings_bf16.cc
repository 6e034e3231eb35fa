// Measures how fast the processor multiplies bf16 pairs, in vector registers (AVX512-BF16) or in AMX tiles.

#include "convlab/kernels/cpu/simd/bf16_tiles.h"
#include "convlab/kernels/cpu/simd/simd.h"
#include "convlab/measure/ceilings_of_device.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convlab/measure/ceilings_bf16.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

/// Multiplies all-zero tiles: two A tiles by two B tiles, into all four C tiles.
double multiply_tiles(int64_t rounds) {
  HWY_ALIGN static const uint8_t zeros[kTileBytes] = {};
  TilesOfAmx tiles(TileShape{});
  tiles.load<4>(zeros), tiles.load<5>(zeros), tiles.load<6>(zeros), tiles.load<7>(zeros);
  tiles.zero<0>(), tiles.zero<1>(), tiles.zero<2>(), tiles.zero<3>();
  for (int64_t i = 0; i < rounds; ++i) {
    tiles.multiply<0, 4, 6>();
    tiles.multiply<1, 4, 7>();
    tiles.multiply<2, 5, 6>();
    tiles.multiply<3, 5, 7>();
  }
  constexpr double kProducts = 4.0 * kTileRows * kTileRows * kTileRows * 2;
  return 2 * kProducts * static_cast<double>(rounds);
}

/// Multiplies zeros in independent chains, enough to hide the latency of two units (6 cycles each).
double multiply_pairs_in_registers(int64_t rounds) {
  constexpr int kChains = 14;
  __m512 sums[kChains];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  const __m512i pairs = _mm512_setzero_si512();
  for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 14
    for (int chain = 0; chain < kChains; ++chain) {
      asm volatile("vdpbf16ps %1, %1, %0" : "+v"(sums[chain]) : "v"(pairs));
    }
  }
  constexpr double kProducts = kChains * 16.0 * 2;
  return 2 * kProducts * static_cast<double>(rounds);
}

double multiply_bf16(int64_t rounds) {
  if (has_unit(Bf16Unit::amx)) return multiply_tiles(rounds);
  return has_unit(Bf16Unit::avx512_bf16) ? multiply_pairs_in_registers(rounds) : 0;
}

#else

double multiply_bf16(int64_t) { return 0; }

#endif

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(multiply_bf16);

}  // namespace

double multiply_bf16(int64_t rounds) { return HWY_DYNAMIC_DISPATCH(multiply_bf16)(rounds); }

}  // namespace convlab
#endif  // HWY_ONCE
