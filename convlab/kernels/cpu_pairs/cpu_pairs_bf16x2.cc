#include "convlab/kernels/cpu_pairs/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_pairs_bf16x2 {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.pairs_bf16x2",
    .device = DeviceKind::cpu,
    .math = Math::bf16x2,
    .rung = 5,
    .idea = "operands split in two bfloat16, on any processor: what cpu.amx_bf16x2 is checked against",
    .after = "cpu.pairs_bf16",
    .threads = "a piece of work is a band of output rows of some maps of 16 images; pair_conv.cc shares them out.",
    .cost =
        "terms() multiplications of bfloat16, three times (twice for raw pixels, which need no second part), each as a "
        "float32 multiply-add.",
    .refuses = "anything that does not lie in pairs, and pooling other than maxima of 2x2.",
    .limit = "multiply-adds; cpu.image_lanes is faster, and more precise.",
};

const RegisterConvKernel registered{pair_conv_kernel<kInfo.math, Bf16Unit::vectors>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_pairs_bf16x2
