#include "convlab/kernels/cpu_pairs/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_amx_bf16x2 {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.amx_bf16x2",
    .device = DeviceKind::cpu,
    .math = Math::bf16x2,
    .rung = 5,
    .rank = 50,
    .idea = "operands split in two bfloat16, so that tiles give nearly float32's precision",
    .after = "cpu.amx_bf16",
    .threads = "a piece of work is a band of output rows of some maps of 16 images; pair_conv.cc shares them out.",
    .cost =
        "terms() multiplications of bfloat16, three times (twice for raw pixels, which need no second part), 8192 an "
        "instruction.",
    .refuses =
        "anything that does not lie in pairs, pooling other than maxima of 2x2, and processors or systems without AMX.",
    .limit = "tile multiplications.",
};

const RegisterConvKernel registered{pair_conv_kernel<kInfo.math, Bf16Unit::amx>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_amx_bf16x2
