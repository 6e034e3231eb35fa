// cpu.amx_bf16: images in lanes, channels in pairs of bfloat16, multiplied by AMX's tiles.
//
// Threads, layout, terms and what it refuses: convlab/kernels/cpu_pairs/pair_conv.cc; the arithmetic: bf16_sums.h. Besides,
//   it refuses where the processor or the system has no AMX.
// Per output: terms() multiplications of bfloat16, 8192 an instruction.
// Limited by tile multiplications where maps and terms are many; by pooling and activation where terms are few.

#include "convlab/kernels/cpu_pairs/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

const RegisterConvKernel registered{pair_conv_kernel<Math::bf16, Bf16Unit::amx>(
    "cpu.amx_bf16", "tiles of 16 maps x 16 images multiplied at once, loaded where they lie", "cpu.avx512_bf16")};

}  // namespace
}  // namespace convlab
