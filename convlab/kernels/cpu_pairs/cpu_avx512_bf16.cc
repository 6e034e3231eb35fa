// cpu.avx512_bf16: images in lanes, channels in pairs of bfloat16, multiplied by VDPBF16PS.
//
// Threads, layout, terms and what it refuses: convlab/kernels/cpu_pairs/pair_conv.cc; the arithmetic: bf16_sums.h. Besides,
//   it refuses where the processor or the system has no AVX512-BF16.
// Per output: terms() multiplications of bfloat16, 32 an instruction.
// Limited by that instruction, of which a core begins one a cycle.

#include "convlab/kernels/cpu_pairs/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

const RegisterConvKernel registered{pair_conv_kernel<Math::bf16, Bf16Unit::avx512_bf16>(
    "cpu.avx512_bf16", "pairs of bfloat16, two products in each lane", "cpu.pairs_bf16")};

}  // namespace
}  // namespace convlab
