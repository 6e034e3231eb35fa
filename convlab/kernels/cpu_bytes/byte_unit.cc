#include "convlab/kernels/cpu_bytes/byte_unit.h"

#include "convlab/kernels/cpu/bf16.h"
#include "convlab/kernels/cpu/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu_bytes/byte_unit.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/highway-inl.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

enum class Registers { none, ymm, zmm };

Registers registers_of_target() {
#if HWY_TARGET == HWY_AVX3
  return Registers::zmm;
#elif HWY_TARGET == HWY_AVX2
  return Registers::ymm;
#else
  return Registers::none;
#endif
}

/// The words of CPUID's leaf 7 that tell: ECX of subleaf 0, EAX of subleaf 1.
bool target_has_dots() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kAvx512Vnni = 1u << 11, kAvxVnni = 1u << 4;
  if (registers_of_target() == Registers::zmm) return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & kAvx512Vnni) != 0;
  if (registers_of_target() == Registers::ymm) return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & kAvxVnni) != 0;
#endif
  return false;
}

/// Processors that have tiles of bytes have those of bfloat16, too.
bool target_has_tiles() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kAmxInt8 = 1u << 25;
  return registers_of_target() == Registers::zmm && has_unit(Bf16Unit::amx) &&
         __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & kAmxInt8) != 0;
#endif
  return false;
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(target_has_dots);
HWY_EXPORT(target_has_tiles);

}  // namespace

bool has_unit(ByteUnit unit) {
  if (unit == ByteUnit::tiles) return HWY_DYNAMIC_DISPATCH(target_has_tiles)();
  return unit == ByteUnit::words || HWY_DYNAMIC_DISPATCH(target_has_dots)();
}

Refusal refuse_without(ByteUnit unit) {
  if (has_unit(unit)) return std::nullopt;
  if (unit == ByteUnit::tiles) return "needs AMX, which this processor or system does not offer";
  return "needs AVX512-VNNI or AVX-VNNI, which this processor does not offer";
}

}  // namespace convlab
#endif  // HWY_ONCE
