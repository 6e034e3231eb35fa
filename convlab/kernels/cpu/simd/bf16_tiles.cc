// Detects the processor's instructions for bf16.

#include "convlab/kernels/cpu/simd/bf16_tiles.h"

#include "convlab/base/error.h"
#include "convlab_instruction_sets.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace convlab {
namespace {

// Only AVX-512 code uses them, which not every build has.
#if defined(__x86_64__) && CONVLAB_AVX512

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);  // zeros if there is no such leaf
  return r;
}

constexpr bool bit(unsigned word, int index) { return (word >> index & 1) != 0; }

/// The register state that the operating system saves for each thread: XCR0.
unsigned kept_state() {
  constexpr int kOsxsave = 27;
  if (!bit(cpuid(1, 0).c, kOsxsave)) return 0;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

bool find_avx512_bf16() {
  constexpr unsigned kAvx512State = 0xe6;  // vectors of 128, 256 and 512 bits, and masks
  constexpr int kAvx512f = 16, kAvx512Bf16 = 5;
  return (kept_state() & kAvx512State) == kAvx512State && bit(cpuid(7, 0).b, kAvx512f) &&
         bit(cpuid(7, 1).a, kAvx512Bf16);
}

bool find_amx() {
  constexpr unsigned kTileState = 0x60000;  // configuration and data
  constexpr int kAmxBf16 = 22, kAmxTile = 24;
  const Registers features = cpuid(7, 0);
  if ((kept_state() & kTileState) != kTileState || !bit(features.d, kAmxTile) || !bit(features.d, kAmxBf16)) {
    return false;
  }
#if defined(__linux__)
  // Linux saves the 8 KiB of tile data only for processes that request it.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return true;
#endif
}

#else

bool find_avx512_bf16() { return false; }
bool find_amx() { return false; }

#endif

}  // namespace

bool has_unit(Bf16Unit unit) {
  static const bool avx512_bf16 = find_avx512_bf16(), amx = avx512_bf16 && find_amx();
  return unit == Bf16Unit::vectors || (unit == Bf16Unit::amx ? amx : avx512_bf16);
}

Refusal refuse_without(Bf16Unit unit) {
  if (has_unit(unit)) return std::nullopt;
  return fmt::format("{} is not supported by this processor, operating system or build",
                     unit == Bf16Unit::amx ? "AMX" : "AVX512-BF16");
}

}  // namespace convlab
