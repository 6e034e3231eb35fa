// cpu.pairs_bf16x2: as cpu.pairs_bf16, with operands split in two: nearly float32's precision.
//
// Threads, layout, terms and what it refuses: convlab/kernels/cpu_pairs/pair_conv.cc; the arithmetic: bf16_sums.h.
// Per output: terms() multiplications of bfloat16, three times (twice for raw pixels, which need no second part), each as a float32 multiply-add.
// Limited by multiply-adds; cpu.image_lanes is faster, and more precise.

#include "convlab/kernels/cpu_pairs/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

const RegisterConvKernel registered{pair_conv_kernel<Math::bf16x2, Bf16Unit::vectors>(
    "cpu.pairs_bf16x2", "operands split in two bfloat16, on any processor: what cpu.amx_bf16x2 is checked against",
    "cpu.pairs_bf16")};

}  // namespace
}  // namespace convlab
