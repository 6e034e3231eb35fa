// cpu.pairs_bf16: images in lanes, channels in pairs of bfloat16, multiplied as float32.
//
// Threads, layout, terms and what it refuses: convlab/kernels/cpu_pairs/pair_conv.cc; the arithmetic: bf16_sums.h.
// Per output: terms() multiplications of bfloat16, each as a float32 multiply-add.
// Limited by multiply-adds, and the broadcast of each weight.

#include "convlab/kernels/cpu_pairs/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

const RegisterConvKernel registered{pair_conv_kernel<Math::bf16, Bf16Unit::vectors>(
    "cpu.pairs_bf16", "pairs of bfloat16: half the memory, on any processor", "cpu.image_lanes")};

}  // namespace
}  // namespace convlab
