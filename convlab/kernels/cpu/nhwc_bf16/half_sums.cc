// Runs the bf16 GEMM of half_sums.h on the selected multiply unit.

#include "convlab/kernels/cpu/nhwc_bf16/half_sums.h"

#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nhwc_bf16/half_sums.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_tiles-inl.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_registers-inl.h"
#include "convlab/kernels/cpu/simd/tile_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

template <class Tiles, bool kConverts>
void sum_in_tiles(const HalfSums& sums) {
  TileSums<Tiles, HalfSums, PanelEnd<kConverts>>(sums, TermTiles(sums.pairs), kTilePlaces).compute();
}

void sum_on_unit(const HalfSums& sums) {
#if HWY_TARGET == HWY_AVX3
  if (sums.unit == Bf16Unit::amx) return sum_in_tiles<TilesOfAmx, true>(sums);
  if (sums.unit == Bf16Unit::avx512_bf16) return sum_in_registers(sums);
#endif
  sum_in_tiles<TilesOfVectors, false>(sums);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(sum_on_unit);

}  // namespace

void sum_halves(const HalfSums& sums) { HWY_DYNAMIC_DISPATCH(sum_on_unit)(sums); }

}  // namespace convlab
#endif  // HWY_ONCE
