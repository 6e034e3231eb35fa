#include "convlab/kernels/cpu_pairs/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_avx512_bf16x2 {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.avx512_bf16x2",
    .device = DeviceKind::cpu,
    .math = Math::bf16x2,
    .rung = 5,
    .idea = "operands split in two bfloat16, by instructions for pairs",
    .after = "cpu.avx512_bf16",
    .threads = "a piece of work is a band of output rows of some maps of 16 images; pair_conv.cc shares them out.",
    .cost =
        "terms() multiplications of bfloat16, three times (twice for raw pixels, which need no second part), 32 an "
        "instruction.",
    .refuses =
        "anything that does not lie in pairs, pooling other than maxima of 2x2, and processors or systems without "
        "AVX512-BF16.",
    .limit = "that instruction; cpu.image_lanes is faster, and more precise.",
};

const RegisterConvKernel registered{pair_conv_kernel<kInfo.math, Bf16Unit::avx512_bf16>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_avx512_bf16x2
