// cpu.amx_bf16x2: as cpu.amx_bf16, with operands split in two: nearly float32's precision.
//
// Threads, layout, terms and what it refuses: convlab/kernels/cpu_pairs/pair_conv.cc; the arithmetic: bf16_sums.h. Besides,
//   it refuses where the processor or the system has no AMX.
// Per output: terms() multiplications of bfloat16, three times (twice for raw pixels, which need no second part), 8192 an instruction.
// Limited by tile multiplications.

#include "convlab/kernels/cpu_pairs/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

const RegisterConvKernel registered{pair_conv_kernel<Math::bf16x2, Bf16Unit::amx>(
    "cpu.amx_bf16x2", "operands split in two bfloat16, so that tiles give nearly float32's precision", "cpu.amx_bf16")};

}  // namespace
}  // namespace convlab
