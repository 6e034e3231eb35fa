#pragma once

// What every file with Highway code includes before Highway itself: the instruction sets that such a file is compiled
// for. On x86-64: AVX3 (AVX-512 as of Skylake-X), AVX2, SSE4 and, as the baseline, scalar code; on Arm: NEON.
// SSSE3 is left out because it costs compile time for processors older than 2008; SVE because its vectors have no size
// at compile time and so cannot be in arrays, as our register tiles are.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
