// cpu.avx512_bf16x2: as cpu.avx512_bf16, with operands split in two: nearly float32's precision.
//
// Threads, layout, terms and what it refuses: convlab/kernels/cpu_pairs/pair_conv.cc; the arithmetic: bf16_sums.h. Besides,
//   it refuses where the processor or the system has no AVX512-BF16.
// Per output: terms() multiplications of bfloat16, three times (twice for raw pixels, which need no second part), 32 an instruction.
// Limited by that instruction; cpu.image_lanes is faster, and more precise.

#include "convlab/kernels/cpu_pairs/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

const RegisterConvKernel registered{pair_conv_kernel<Math::bf16x2, Bf16Unit::avx512_bf16>(
    "cpu.avx512_bf16x2", "operands split in two bfloat16, by instructions for pairs", "cpu.avx512_bf16")};

}  // namespace
}  // namespace convlab
