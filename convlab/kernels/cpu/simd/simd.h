#pragma once

// Every file with Highway code includes this before Highway itself. It selects the instruction sets that the file is
// compiled for. On x86-64: AVX3 (AVX-512 as of Skylake-X), AVX2, SSE4 and, as the baseline, scalar code; on Arm: NEON.
// SSSE3 is excluded because it costs compile time for processors older than 2008; SVE because its vectors have no size
// at compile time and so cannot be in arrays, as in our register tiles. Newer versions of Highway also compile for SSE2
// and for sets beyond AVX3 by default, for which we have no code. SSE2 is excluded by its number, because older
// versions have no name for it; the sets beyond AVX3 are those with lower numbers. A build may exclude sets
// (CONVLAB_INSTRUCTION_SETS): each is a quarter of the compile time.
#include "convlab_instruction_sets.h"
#ifdef __aarch64__
#define CONVLAB_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#else
#define CONVLAB_DISABLED_TARGETS                                                                                \
  (HWY_SSSE3 | (1LL << 14) | (HWY_AVX3 - 1) | (CONVLAB_AVX512 ? 0 : HWY_AVX3) | (CONVLAB_AVX2 ? 0 : HWY_AVX2) | \
   (CONVLAB_SSE4 ? 0 : HWY_SSE4))
#endif
#define HWY_DISABLED_TARGETS CONVLAB_DISABLED_TARGETS
// The baseline is HWY_SCALAR with every compiler. Highway's HWY_EMU128, the default with newer compilers, takes longer
// to compile, and GCC 14 miscomputes sums of infinities in it (Debian 13: -FLT_MAX for -inf in an average pool).
#define HWY_BROKEN_EMU128 1
