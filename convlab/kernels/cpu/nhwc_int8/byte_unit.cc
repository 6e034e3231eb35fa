// Detects the processor's instructions for dot products of bytes.

#include "convlab/kernels/cpu/nhwc_int8/byte_unit.h"

#include "convlab/kernels/cpu/simd/bf16_tiles.h"
#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nhwc_int8/byte_unit.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/simd/highway-inl.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// Bits of the target's vector registers; 0: too few for kernels on bytes.
int vector_bits() {
#if HWY_TARGET == HWY_AVX3
  return 512;
#elif HWY_TARGET == HWY_AVX2
  return 256;
#else
  return 0;
#endif
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(vector_bits);

/// Features that CPUID's leaf 7 reports.
struct Features {
  bool avx512_vnni = false, avx_vnni = false, amx_int8 = false;
};

Features find_features() {
  Features found;
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    found.avx512_vnni = (c >> 11 & 1) != 0;
    found.amx_int8 = (d >> 25 & 1) != 0;
  }
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d)) found.avx_vnni = (a >> 4 & 1) != 0;
#endif
  return found;
}

}  // namespace

bool has_unit(ByteUnit unit) {
  if (unit < ByteUnit::dots) return true;
  // Queried once: in a virtual machine, CPUID traps to the host, which takes microseconds.
  static const Features features = find_features();
  const int bits = HWY_DYNAMIC_DISPATCH(vector_bits)();
  // Processors that have AMX for bytes also have it for bf16.
  if (unit == ByteUnit::tiles) return bits == 512 && features.amx_int8 && has_unit(Bf16Unit::amx);
  return bits == 512 ? features.avx512_vnni : bits == 256 && features.avx_vnni;
}

Refusal refuse_without(ByteUnit unit) {
  if (has_unit(unit)) return std::nullopt;
  if (unit == ByteUnit::tiles) return "AMX is not supported by this processor, operating system or build";
  return "AVX512-VNNI and AVX-VNNI are not supported by this processor or build";
}

}  // namespace convlab
#endif  // HWY_ONCE
