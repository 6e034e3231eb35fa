// Compiles the loops of bf16_*-inl.h for each multiply unit, and packs pixels into pairs. They are in one file on
// purpose: what GCC inlines depends on the size of the file, and in two files the inner loops compile differently.

#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_sums.h"

#include <limits>

#include "convlab/kernels/cpu/simd/simd.h"

// No plan uses SSE4 for these loops, and it costs as much compile time as any other instruction set.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (CONVLAB_DISABLED_TARGETS | HWY_SSE4)

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nchw16n2c_bf16/bf16_sums.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_conv-inl.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_dense-inl.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_tiles-inl.h"
#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

template <class Tiles, class Job>
void compute_as(const Job& job) {
  switch (job.w.products) {
    case Products::one:
      return compute_with<Tiles, 1>(job);
    case Products::two:
      return compute_with<Tiles, 2>(job);
    case Products::three:
      return compute_with<Tiles, 3>(job);
  }
}

#if HWY_TARGET == HWY_AVX3 && (HWY_TARGETS & HWY_AVX2) != 0
/// Bf16Unit::vectors is the reference for the other units. With AVX-512 it need not be faster than with AVX2, so it
/// calls the AVX2 code, which is compiled earlier.
HWY_INLINE void compute_in_vectors(const PairConvolution& job) { N_AVX2::convolve_on(Bf16Unit::vectors, job); }
HWY_INLINE void compute_in_vectors(const PairDense& job) { N_AVX2::multiply_on(Bf16Unit::vectors, job); }
#else
template <class Job>
HWY_INLINE void compute_in_vectors(const Job& job) {
  compute_as<TilesOfVectors>(job);
}
#endif

template <class Job>
HWY_INLINE void compute_on(Bf16Unit unit, const Job& job) {
#if HWY_TARGET == HWY_AVX3
  if (unit == Bf16Unit::amx) return compute_as<TilesOfAmx>(job);
  if (unit == Bf16Unit::avx512_bf16) return compute_as<TilesOfAvx512Bf16>(job);
#endif
  (void)unit;
  compute_in_vectors(job);
}

void convolve_on(Bf16Unit unit, const PairConvolution& job) { compute_on(unit, job); }

void multiply_on(Bf16Unit unit, const PairDense& job) { compute_on(unit, job); }

void pack_all_pairs(const float* even, const float* odd, int64_t count, int64_t float_step, std::byte* high,
                    std::byte* low, int64_t step) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const V quiet = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  const auto load = [&](const float* from) {
    const V value = hn::Load(d, from);
    return hn::IfThenElse(hn::IsNaN(value), quiet, value);
  };
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t part = 0; part < kRowFloats; part += lanes) {
      const V a = load(even + j * float_step + part);
      const V b = odd != nullptr ? load(odd + j * float_step + part) : hn::Zero(d);
      std::byte* to = high + j * step + part * 4;
      if (low != nullptr) {
        store_pairs<true>(a, b, to, low - high);
      } else {
        store_pairs<false>(a, b, to, 0);
      }
    }
  }
}

template <bool kHasOdd>
HWY_INLINE void pack_bytes(const uint8_t* even, const uint8_t* odd, int64_t count, int64_t byte_step, std::byte* to,
                           int64_t step) {
  const Floats d;
  const hn::Rebind<uint8_t, Floats> bytes;
  const hn::Rebind<int32_t, Floats> integers;
  const auto load = [&](const uint8_t* from) HWY_ATTR {
    return hn::BitCast(Bits(), hn::ConvertTo(d, hn::PromoteTo(integers, hn::Load(bytes, from))));
  };
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t part = 0; part < kRowFloats; part += static_cast<int64_t>(hn::Lanes(d))) {
      auto pairs = hn::ShiftRight<16>(load(even + j * byte_step + part));
      if constexpr (kHasOdd) pairs = hn::Or(pairs, load(odd + j * byte_step + part));
      hn::Store(pairs, Bits(), reinterpret_cast<uint32_t*>(to + j * step + part * 4));
    }
  }
}

void pack_all_bytes(const uint8_t* even, const uint8_t* odd, int64_t count, int64_t byte_step, std::byte* to,
                    int64_t step) {
  if (odd != nullptr) return pack_bytes<true>(even, odd, count, byte_step, to, step);
  pack_bytes<false>(even, odd, count, byte_step, to, step);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(convolve_on);
HWY_EXPORT(multiply_on);
HWY_EXPORT(pack_all_pairs);
HWY_EXPORT(pack_all_bytes);

}  // namespace

void quiet_bias(const float* bias, int64_t maps, float* to) {
  for (int64_t map = 0; map < maps; ++map) {
    const float value = bias != nullptr ? bias[map] : 0;
    to[map] = value == value ? value : std::numeric_limits<float>::quiet_NaN();
  }
}

void convolve_pairs(Bf16Unit unit, const PairConvolution& job) { HWY_DYNAMIC_DISPATCH(convolve_on)(unit, job); }

void multiply_pairs(Bf16Unit unit, const PairDense& job) { HWY_DYNAMIC_DISPATCH(multiply_on)(unit, job); }

void pack_pairs(const float* even, const float* odd, int64_t count, int64_t float_step, std::byte* high, std::byte* low,
                int64_t step) {
  HWY_DYNAMIC_DISPATCH(pack_all_pairs)(even, odd, count, float_step, high, low, step);
}

void pack_pairs(const uint8_t* even, const uint8_t* odd, int64_t count, int64_t byte_step, std::byte* to,
                int64_t step) {
  HWY_DYNAMIC_DISPATCH(pack_all_bytes)(even, odd, count, byte_step, to, step);
}

}  // namespace convlab
#endif  // HWY_ONCE
