#pragma once

// What every file with Highway code includes before Highway itself: the instruction sets that such a file is compiled
// for. On x86-64: AVX3 (AVX-512 as of Skylake-X), AVX2, SSE4 and, as the baseline, scalar code; on Arm: NEON.
// SSSE3 is left out because it costs compile time for processors older than 2008; SVE because its vectors have no size
// at compile time and so cannot be in arrays, as our register tiles are. Newer versions of Highway compile for SSE2 and
// for sets beyond AVX3 by themselves, for which none of our code is written: SSE2 by its number, as older ones have no
// name for it, and all with a lower number than AVX3, which are the sets beyond. A build may leave out sets
// (CONVLAB_INSTRUCTION_SETS): each is a quarter of what the compiler does.
#include "convlab_instruction_sets.h"
#ifdef __aarch64__
#define CONVLAB_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#else
#define CONVLAB_DISABLED_TARGETS                                                                                \
  (HWY_SSSE3 | (1LL << 14) | (HWY_AVX3 - 1) | (CONVLAB_AVX512 ? 0 : HWY_AVX3) | (CONVLAB_AVX2 ? 0 : HWY_AVX2) | \
   (CONVLAB_SSE4 ? 0 : HWY_SSE4))
#endif
#define HWY_DISABLED_TARGETS CONVLAB_DISABLED_TARGETS
// The baseline is HWY_SCALAR with every compiler. Highway's HWY_EMU128, which newer compilers would get, takes longer
// to compile, and GCC 14 computes sums of infinities wrong in it (Debian 13: -FLT_MAX for -inf in an average pool).
#define HWY_BROKEN_EMU128 1
